import type { Logger } from "./context.js";
import type { Refused } from "./source.js";

/** Milliseconds without a held input after which the channels count as taking records again. */
const QUIET_MILLIS = 10_000;

/** What {@link HeldInput} is made of. @beta */
export interface HeldInputParts {
  /** What is held, for the log: a message of a broker, or a record of a log. */
  readonly input: "message" | "record";
  readonly log: Logger;
  /** From one attempt to the next. */
  readonly retryMillis: number;
  /** Milliseconds of a steady clock; absent: that of the process. */
  readonly steady?: () => number;
}

/**
 * The lines about what a source holds because the channels do not take it: a warning for each new cause, and how many there were when the
 * channels take them again. A channel that is emptied slowly holds one after another: that is one time. @beta
 */
export class HeldInput {
  readonly #input: HeldInputParts["input"];
  readonly #log: Logger;
  readonly #steady: () => number;
  readonly #quietMillis: number;
  /** Those that were logged. */
  readonly #causes = new Set<string>();
  #count = 0;
  #lastAt = 0;

  constructor({ input, log, retryMillis, steady = () => performance.now() }: HeldInputParts) {
    this.#input = input;
    this.#log = log;
    this.#steady = steady;
    this.#quietMillis = Math.max(QUIET_MILLIS, 2 * retryMillis);
  }

  /** One has to wait, with the number of the attempt, from 1. */
  held({ status, cause, reason }: Refused, attempt: number, about: object): void {
    this.#lastAt = this.#steady();
    if (attempt === 1) this.#count += 1;
    const level = this.#causes.has(cause) ? "debug" : "warn";
    this.#causes.add(cause);
    this.#log[level]({ attempt, status, cause, ...about, reason }, `${this.#input} held until the channels take it`);
  }

  /** The channels have one. */
  taken(): void {
    if (this.#count === 0 || this.#steady() - this.#lastAt < this.#quietMillis) return;
    this.#log.info({ [`${this.#input}s`]: this.#count }, `the channels take ${this.#input}s again`);
    this.#count = 0;
    this.#causes.clear();
  }
}
