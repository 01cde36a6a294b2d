import type { Logger, Refused } from "deneb/sdk";

/** Milliseconds without a held record after which the channels count as taking records again. */
const QUIET_MILLIS = 10_000;

interface HeldRecordsParts {
  readonly log: Logger;
  /** From one attempt to the next. */
  readonly retryMillis: number;
  /** Milliseconds of a steady clock; absent: that of the process. */
  readonly steady?: () => number;
}

/**
 * The lines about records that the channels do not take: a warning for each new cause, and the number of records when the channels take
 * them again. A channel that is emptied slowly holds one record after another: that is one time.
 */
export class HeldRecords {
  readonly #log: Logger;
  readonly #steady: () => number;
  readonly #quietMillis: number;
  /** Those that were logged. */
  readonly #causes = new Set<string>();
  #records = 0;
  #lastAt = 0;

  constructor({ log, retryMillis, steady = () => performance.now() }: HeldRecordsParts) {
    this.#log = log;
    this.#steady = steady;
    this.#quietMillis = Math.max(QUIET_MILLIS, 2 * retryMillis);
  }

  /** A record has to wait, with the number of the attempt, from 1. */
  held({ status, cause, reason }: Refused, attempt: number, about: object): void {
    this.#lastAt = this.#steady();
    if (attempt === 1) this.#records += 1;
    const level = this.#causes.has(cause) ? "debug" : "warn";
    this.#causes.add(cause);
    this.#log[level]({ attempt, status, cause, ...about, reason }, "record held until the channels take it");
  }

  /** The channels have a record. */
  taken(): void {
    if (this.#records === 0 || this.#steady() - this.#lastAt < this.#quietMillis) return;
    this.#log.info({ records: this.#records }, "the channels take records again");
    this.#records = 0;
    this.#causes.clear();
  }
}
