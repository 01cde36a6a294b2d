import type { Logger } from "../../../sdk/index.js";
import type { TableName } from "../../contract/statement.js";
import type { Standing } from "./position-rows.js";

/** A row that is not as this run wrote it last. */
export interface Suspicion {
  readonly name: TableName;
  readonly known: Standing;
  /** Undefined if there is no row. */
  readonly found: Standing | undefined;
}

/**
 * Reports a store that lacks what was stored: it was restored from a backup, say, or its server replaced by one that did not have the
 * last transactions. A server of a cluster may show the past for a moment only, so this is called when a write has built on it.
 */
export function reportGoneBack(log: Logger, { name: { schema, table }, known, found }: Suspicion): void {
  if (found === undefined) {
    log.warn({ schema, table }, "the stored position is gone; the store may lack what was stored before");
    return;
  }
  const { moved: since = "" } = found;
  const { moved: until = "" } = known;
  // A later one was written by another sink of this run, or by a write whose answer was lost.
  if (since >= until) return;
  const fields = { schema, table, since, until };
  log.error(fields, "the store has gone back: it lacks what was stored between these times");
}
