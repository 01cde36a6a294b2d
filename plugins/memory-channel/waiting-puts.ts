import type { Event } from "deneb/sdk";

export interface WaitingPut {
  readonly events: readonly Event[];
  /** Ends the waiting: true when the events were let in. */
  settle(admitted: boolean): void;
}

/** Puts that wait for room, first come first served, each until its patience ends. */
export class WaitingPuts {
  readonly #waiting = new Set<WaitingPut>();
  readonly #patienceMillis: number;

  constructor(patienceMillis: number) {
    this.#patienceMillis = patienceMillis;
  }

  get first(): WaitingPut | undefined {
    return this.#waiting.values().next().value;
  }

  /** Resolves to false when there was no room in time. */
  wait(events: readonly Event[]): Promise<boolean> {
    if (this.#patienceMillis === 0) return Promise.resolve(false);
    return new Promise((resolve) => {
      const timer = setTimeout(() => put.settle(false), this.#patienceMillis);
      const put: WaitingPut = {
        events,
        settle: (admitted) => {
          clearTimeout(timer);
          this.#waiting.delete(put);
          resolve(admitted);
        },
      };
      this.#waiting.add(put);
    });
  }

  refuseAll(): void {
    for (const put of this.#waiting) put.settle(false);
  }
}
