import { lastCodeOf } from "../sdk/error-codes.js";
import { codeOf, reasonOf } from "../sdk/index.js";
import type { Clock } from "../tokens.js";

/** What keeps a component from its work. */
export interface Failure {
  readonly since: Date;
  /** When it failed the last time. */
  readonly last: Date;
  /** The latest reason. */
  readonly reason: string;
  /** The code of its error, where it has one. */
  readonly code: string | undefined;
  /** The code of what caused it in the end, such as that of a driver; undefined where it has no cause with one. */
  readonly causedBy: string | undefined;
}

/** Whether what a component does again and again succeeds; the health of an agent is made of these. */
export class FailureState {
  readonly #clock: Clock;
  #failure: Failure | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Undefined while it succeeds. Bad data is not a failure of a sink. */
  get failure(): Failure | undefined {
    return this.#failure;
  }

  failed(error: unknown): void {
    const now = this.#clock.now();
    const codes = { code: codeOf(error), causedBy: lastCodeOf(error) };
    this.#failure = { since: this.#failure?.since ?? now, last: now, reason: reasonOf(error), ...codes };
  }

  works(): void {
    this.#failure = undefined;
  }
}
