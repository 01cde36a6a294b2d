import type { Logger } from "./context.js";
import { reasonOf } from "./errors.js";

/** The lines about one thing that may fail for a time: one for each new cause, and one when it works again. */
export class FailureLog {
  readonly #log: Logger;
  readonly #recovered: string;
  #reason: string | undefined;
  #failures = 0;

  /** `recovered` is the message of the last of them. */
  constructor(log: Logger, recovered: string) {
    this.#log = log;
    this.#recovered = recovered;
  }

  get isFailing(): boolean {
    return this.#reason !== undefined;
  }

  /** The same cause again is not news. */
  failed(level: "warn" | "error", error: unknown, { message, fields = {} }: FailureLine): void {
    const reason = reasonOf(error);
    this.#failures += 1;
    if (reason !== this.#reason) this.#log[level]({ ...fields, reason }, message);
    this.#reason = reason;
  }

  works(fields: object = {}): void {
    if (this.#reason === undefined) return;
    this.#log.info({ ...fields, failures: this.#failures }, this.#recovered);
    this.#reason = undefined;
    this.#failures = 0;
  }
}

interface FailureLine {
  readonly message: string;
  readonly fields?: object;
}
