import type { Logger } from "./context.js";
import { reasonOf } from "./errors.js";

/** Causes of one failure that are remembered; more come only where each names something else. */
const MOST_REASONS = 100;

/**
 * The lines about one thing that may fail for a time, such as a connection: one for each new cause, and one when it works again.
 * @beta
 */
export class FailureLog {
  readonly #log: Logger;
  readonly #recovered: string;
  /** Those that were logged since it worked. */
  readonly #reasons = new Set<string>();
  #failures = 0;

  /** `recovered` is the message of the last of them. */
  constructor(log: Logger, recovered: string) {
    this.#log = log;
    this.#recovered = recovered;
  }

  /** Whether it failed and has not worked since. */
  get isFailing(): boolean {
    return this.#failures > 0;
  }

  /** A cause that was logged before is not news, also when another one came between. */
  failed(level: "warn" | "error", error: unknown, { message, fields = {} }: FailureLine): void {
    const reason = reasonOf(error);
    this.#failures += 1;
    if (this.#reasons.has(reason)) return;
    this.#log[level]({ ...fields, reason }, message);
    this.#reasons.add(reason);
    const [oldest = ""] = this.#reasons;
    if (this.#reasons.size > MOST_REASONS) this.#reasons.delete(oldest);
  }

  /** Says that it works again, with the number of failures, if it failed. */
  works(fields: object = {}): void {
    if (this.#failures === 0) return;
    this.#log.info({ ...fields, failures: this.#failures }, this.#recovered);
    this.#reasons.clear();
    this.#failures = 0;
  }
}

/** What a failure is logged as. @beta */
export interface FailureLine {
  readonly message: string;
  /** Of the line, besides `reason`. */
  readonly fields?: object;
}
