import type { Entity } from "deneb/ngsi";
import { AgentError } from "deneb/sdk";
import type { Cell } from "../statement.js";

// SQLite would cut the text at NUL without a word, and a lone surrogate has no UTF-8 form: both would be stored changed.
const unstorable = /\0|\p{Surrogate}/u;

/** Throws for text that no database keeps. */
export function refuseUnstorable(text: Cell, { id }: Entity, column: string | undefined): void {
  if (text === undefined || !unstorable.test(text)) return;
  const message = `storing ${JSON.stringify(column)} of entity ${JSON.stringify(id)}: NUL or half a surrogate pair in it`;
  throw new AgentError("VALUE_NOT_STORABLE", `${message}, which no database keeps`, { retryable: false });
}
