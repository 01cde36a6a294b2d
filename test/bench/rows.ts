import { setTimeout as pause } from "node:timers/promises";
import type { Ledger } from "./agent-process.js";
import type { LoadResult } from "./load.js";
import type { EventsOfRequest } from "./requests.js";
import type { BenchStore } from "./store.js";

/** What became of everything that was accepted. */
export interface RowCount {
  /** Rows there must be: of each event that the agent has taken in, those of its layout. */
  readonly expected: number;
  readonly found: number;
  /** Rows beyond the expected ones. */
  readonly doubled: number;
}

/** What is asked when rows are counted. */
export interface Counted {
  readonly store: Pick<BenchStore, "countRows"> | undefined;
  readonly ledger: (() => Promise<Ledger>) | undefined;
}

const STALL_MILLISECONDS = 60_000;
const LOOK_MILLISECONDS = 20;

/** Looks until the number reaches the goal; throws when it does not grow for a minute. */
export async function reaches(
  what: string,
  look: () => Promise<number>,
  goal: () => number | Promise<number>,
): Promise<void> {
  let last = -1;
  let grown = performance.now();
  for (;;) {
    const seen = await look();
    const wanted = await goal();
    if (seen >= wanted) return;
    if (seen !== last) grown = performance.now();
    if (performance.now() - grown > STALL_MILLISECONDS) {
      throw new Error(`${what}: ${seen} of ${wanted}, and no more for ${STALL_MILLISECONDS / 1000} seconds`);
    }
    last = seen;
    await pause(LOOK_MILLISECONDS);
  }
}

/** Compares what was answered 200 with what the agent says and with what the database holds. */
export class RowCheck {
  readonly #system: Counted;
  readonly #rowsPerEvent: number;
  #accepted = 0;
  #unanswered = 0;

  constructor(system: Counted, rowsPerEvent: number) {
    this.#system = system;
    this.#rowsPerEvent = rowsPerEvent;
  }

  /** Events of requests that were answered 200, and the most that came of requests that were broken off. */
  add(accepted: number, unanswered = 0): void {
    this.#accepted += accepted;
    this.#unanswered += unanswered;
  }

  /** Of requests that hold different numbers of events it is not known which ones were accepted. */
  addLoad({ accepted, unanswered }: LoadResult, { fewest, most }: Pick<EventsOfRequest, "fewest" | "most">): void {
    this.add(accepted * fewest, accepted * (most - fewest) + unanswered * most);
  }

  /** Waits until everything that was taken in is stored, then counts; throws when something is lost. */
  async settled(): Promise<RowCount | undefined> {
    const { store, ledger } = this.#system;
    if (store === undefined) return undefined;
    const count = store.countRows;
    return ledger === undefined ? await this.#withoutLedger(count) : await this.#withLedger(count, ledger);
  }

  /** The requests that were broken off may have come in: the agent says how many of them did. */
  async #withLedger(countRows: () => Promise<number>, ledger: () => Promise<Ledger>): Promise<RowCount> {
    let received = 0;
    let found = 0;
    do {
      const stored = async () => (await ledger()).stored;
      await reaches("events stored", stored, async () => (await ledger()).received);
      ({ received } = await ledger());
      found = await countRows();
    } while ((await ledger()).received !== received);
    const most = this.#accepted + this.#unanswered;
    if (received < this.#accepted || received > most) {
      throw new Error(`${this.#accepted} to ${most} events were accepted, and the agent counts ${received}`);
    }
    return this.#judged(received * this.#rowsPerEvent, received * this.#rowsPerEvent, found);
  }

  /** Nobody to ask: the rows of broken-off requests are neither missing nor doubled. */
  async #withoutLedger(countRows: () => Promise<number>): Promise<RowCount> {
    await reaches("rows", countRows, () => this.#accepted * this.#rowsPerEvent);
    let found = await countRows();
    for (let last = -1; found !== last; found = await countRows()) {
      last = found;
      await pause(25 * LOOK_MILLISECONDS);
    }
    return this.#judged(
      this.#accepted * this.#rowsPerEvent,
      (this.#accepted + this.#unanswered) * this.#rowsPerEvent,
      found,
    );
  }

  #judged(least: number, most: number, found: number): RowCount {
    if (found < least) throw new Error(`${least} rows were accepted, and only ${found} are there`);
    return { expected: least, found, doubled: Math.max(0, found - most) };
  }
}
