import type { QueuedEvent } from "./event-queue.js";

/** A take that waits for an event. */
export interface WaitingTake {
  readonly max: number;
  /** Ends the waiting with these events. */
  settle(events: readonly QueuedEvent[]): void;
}

/** Takes that wait for an event, first come first served, each until its signal aborts. */
export class WaitingTakes {
  readonly #waiting = new Set<WaitingTake>();

  get first(): WaitingTake | undefined {
    return this.#waiting.size === 0 ? undefined : this.#waiting.values().next().value;
  }

  wait(max: number, signal: AbortSignal): Promise<readonly QueuedEvent[]> {
    return new Promise((resolve) => {
      const abort = () => take.settle([]);
      const take: WaitingTake = {
        max,
        settle: (events) => {
          signal.removeEventListener("abort", abort);
          this.#waiting.delete(take);
          resolve(events);
        },
      };
      signal.addEventListener("abort", abort, { once: true });
      this.#waiting.add(take);
    });
  }

  releaseAll(): void {
    for (const take of this.#waiting) take.settle([]);
  }
}
