import type { Logger } from "../../../sdk/index.js";
import { RecentMap } from "../../contract/recent-map.js";
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

/** What one row of a channel that agents share was, as far as this run knows. */
interface Trace {
  /** As this run wrote it last. */
  readonly left: Standing;
  /** As it was before this run wrote it first. */
  readonly before: Standing;
}

interface SharedRow {
  readonly key: string;
  readonly name: TableName;
  /** Undefined if there is no row. */
  readonly found: Standing | undefined;
}

/**
 * Notices a store that lacks positions of channels that agents share. Other agents move these rows, too, with clocks of their own: a row
 * has gone back if it is as this run wrote it earlier, or as it was before this run, or is gone.
 */
export class SharedTraces {
  readonly #run: string;
  readonly #log: Logger;
  readonly #traces: RecentMap<Trace>;
  readonly #suspicions = new Map<string, Suspicion>();

  constructor(run: string, log: Logger, most: number) {
    this.#run = run;
    this.#log = log;
    this.#traces = new RecentMap(most);
  }

  /** A row was read. */
  read({ key, name, found }: SharedRow): void {
    const trace = this.#traces.get(key);
    if (trace === undefined) return;
    if (this.#isEarlier(trace, found)) this.#suspicions.set(key, { name, known: trace.left, found });
    else this.#suspicions.delete(key);
  }

  /** A row was moved, from what it was before. */
  written(key: string, before: Standing, left: Standing): void {
    this.#traces.set(key, { before: this.#traces.get(key)?.before ?? before, left });
    const suspicion = this.#suspicions.get(key);
    if (suspicion === undefined) return;
    this.#suspicions.delete(key);
    reportGoneBack(this.#log, suspicion);
  }

  #isEarlier({ left, before }: Trace, found: Standing | undefined): boolean {
    if (found === undefined) return true;
    const { moved = "" } = found;
    if (found.owner === this.#run) return found.position !== left.position && moved < (left.moved ?? "");
    return found.position === before.position && found.owner === before.owner && moved === before.moved;
  }
}
