import { reasonOf } from "../sdk/index.js";
import type { Clock } from "../tokens.js";

/** What keeps a component from its work. */
export interface Failure {
  readonly since: Date;
  /** When it failed the last time. */
  readonly last: Date;
  /** The latest reason. */
  readonly reason: string;
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
    this.#failure = { since: this.#failure?.since ?? now, last: now, reason: reasonOf(error) };
  }

  works(): void {
    this.#failure = undefined;
  }
}
