import { reasonOf } from "../../sdk/index.js";
import type { Clock } from "../../tokens.js";

/** What keeps a sink from storing, and since when. */
export interface SinkFailure {
  readonly since: Date;
  /** The latest reason. */
  readonly reason: string;
}

/** Whether a sink stores what it is given; the agent's readiness is made of these. */
export class SinkHealth {
  readonly #clock: Clock;
  #failure: SinkFailure | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Undefined while the sink stores. Bad data is no failure of the sink. */
  get failure(): SinkFailure | undefined {
    return this.#failure;
  }

  failed(error: unknown): void {
    this.#failure = { since: this.#failure?.since ?? this.#clock.now(), reason: reasonOf(error) };
  }

  works(): void {
    this.#failure = undefined;
  }
}
