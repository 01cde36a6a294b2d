import { eventHeaders } from "../../ngsi/index.js";
import type { DeadLetter } from "./dead-letter.js";

/** What a letter is about, as far as its event says. */
export interface LetterSubject {
  readonly service?: string;
  readonly servicePath?: string;
  readonly entityId?: string;
  readonly entityType?: string;
}

export function subjectOf({ event }: Pick<DeadLetter, "event">): LetterSubject {
  const { headers, body } = event;
  const subject = {
    service: headers[eventHeaders.service],
    servicePath: headers[eventHeaders.servicePath],
    entityId: textIn(body, "id"),
    entityType: textIn(body, "type"),
  };
  return Object.fromEntries(Object.entries(subject).filter(([, text]) => text !== undefined));
}

function textIn(body: unknown, name: string): string | undefined {
  if (typeof body !== "object" || body === null) return undefined;
  const value: unknown = Reflect.get(body, name);
  return typeof value === "string" ? value : undefined;
}
