import type { Logger } from "../../../sdk/index.js";
import type { TableName } from "../../contract/statement.js";
import type { Standing } from "./position-rows.js";

/** A row that is not as this run wrote it last. */
interface Suspicion {
  readonly name: TableName;
  readonly known: Standing;
  /** Undefined if there is no row. */
  readonly found: Standing | undefined;
}

/**
 * Reports a store that lacks what was stored: it was restored from a backup, say, or its server replaced by one that did not have the
 * last transactions. A server of a cluster may show the past for a moment only, so it is reported when a write has built on it.
 */
export class GoneBack {
  readonly #log: Logger;
  readonly #suspicions = new Map<string, Suspicion>();

  constructor(log: Logger) {
    this.#log = log;
  }

  /** What was read last counts. */
  suspect(key: string, suspicion: Suspicion | undefined): void {
    if (suspicion === undefined) this.#suspicions.delete(key);
    else this.#suspicions.set(key, suspicion);
  }

  /** The row was moved from what was read last. */
  moved(key: string): void {
    const suspicion = this.#suspicions.get(key);
    if (suspicion === undefined) return;
    this.#suspicions.delete(key);
    this.#report(suspicion);
  }

  #report({ name: { schema, table }, known, found }: Suspicion): void {
    if (found === undefined) {
      this.#log.warn({ schema, table }, "the stored position is gone; the store may lack what was stored before");
      return;
    }
    const { moved: since = "" } = found;
    const { moved: until = "" } = known;
    // A later one was written by another sink of this run, or by a write whose answer was lost.
    if (since >= until) return;
    const fields = { schema, table, since, until };
    this.#log.error(fields, "the store has gone back: it lacks what was stored between these times");
  }
}
