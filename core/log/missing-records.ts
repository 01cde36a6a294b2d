import type { Logger } from "../sdk/index.js";
import type { KnownPlaces } from "./known-places.js";
import type { OwnPart } from "./own-parts.js";

type Seen = Pick<KnownPlaces, "seenBefore" | "isReplaced" | "isStoredKnown">;

interface Missing {
  /** Since when, by a steady clock. */
  readonly since: number;
  /** How much of it is counted. */
  told: number;
}

/**
 * Counts what is missing in the parts of this agent. An agent that was stopped for a time and goes on reads what others have
 * stored and removed since, until it hears that the part is no longer its own: only what is missing for a session counts.
 */
export class MissingRecords {
  readonly #sessionMillis: number;
  readonly #log: Logger;
  readonly #places: Seen;
  readonly #missing = new WeakMap<OwnPart, Missing>();
  /** The parts of which it was said that nobody knows how much is missing. */
  readonly #uncounted = new Set<number>();
  #lost = 0;

  constructor(sessionMillis: number, log: Logger, places: Seen) {
    this.#sessionMillis = sessionMillis;
    this.#log = log;
    this.#places = places;
  }

  /** Events, at least: of records of which only the number is known, one for each. */
  get lost(): number {
    return this.#lost;
  }

  /** The parts of which records are gone, and nobody knows how many. */
  get uncounted(): readonly number[] {
    return [...this.#uncounted];
  }

  /** To be called several times in a session; `now` is of a steady clock, in milliseconds. */
  look(parts: ReadonlyMap<number, OwnPart>, now: number): void {
    for (const [part, own] of parts) {
      const { lost } = own.queue;
      const uncounted = this.#uncountedOf(part, own);
      if (lost === 0 && uncounted === undefined) continue;
      const missing = this.#missing.get(own) ?? { since: now, told: 0 };
      this.#missing.set(own, missing);
      if (now - missing.since < this.#sessionMillis) continue;
      if (uncounted !== undefined) this.#tellUncounted(part, uncounted);
      if (lost <= missing.told) continue;
      this.#log.error(
        { partition: part, lost: lost - missing.told },
        "records of the log are missing: they were removed before they were stored, with at least that many events. See that neither the " +
          "retention of the engine nor anybody else removes records; the agents remove what is stored",
      );
      this.#lost += lost - missing.told;
      missing.told = lost;
    }
  }

  /** What is missing without a number of it; undefined for nothing. */
  #uncountedOf(part: number, { queue, end }: OwnPart): string | undefined {
    const seen = this.#places.seenBefore(part);
    if (queue.isCut) return CUT;
    if (seen < 0) return undefined;
    if (this.#places.isReplaced(part) || (end <= seen && queue.next <= seen)) return SHORT;
    return this.#places.isStoredKnown && queue.isGone(seen) ? GONE : undefined;
  }

  #tellUncounted(part: number, message: string): void {
    if (this.#uncounted.has(part)) return;
    this.#uncounted.add(part);
    this.#log.error({ partition: part }, message);
  }
}

const CUT =
  "the last stored record of a partition is gone, which the agents keep: somebody removed records, and those that were not stored " +
  "yet are lost; how many, nobody knows. See that nobody purges the log; the agents remove what is stored";
const GONE =
  "records that this agent had seen in a partition are gone, and nothing of it is known to be stored: somebody removed records, and those " +
  "that were not stored are lost; how many, nobody knows. See that neither the retention of the engine nor anybody else removes records";
const SHORT =
  "the log ends before records that this agent had seen in a partition: it has lost its newest ones, and those that were not stored are " +
  "lost. Until the sinks have told what is stored, what is put into the partition is refused";
