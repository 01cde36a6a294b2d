import { wait } from "./retry-policy.js";

/** Milliseconds over which the rate is averaged. */
const WINDOW_MILLIS = 50;
/** Events per millisecond; below this rate each batch is taken at once. */
const BUSY_PACE = 0.5;
/** An event costs hardly less in a batch of more events. */
const ENOUGH_EVENTS = 250;
const LONGEST_MILLIS = 20;
/** Milliseconds between two looks whether enough events wait. */
const STEP_MILLIS = 2;

/** How fast events come, by the batches that were taken: a moment more makes the next batch larger, and its events cheaper. */
export class Pace {
  /** Events for which the next batch waits. */
  readonly enough: number;
  #pace = 0;
  #at = 0;

  /** `most`: events for which a batch may wait. */
  constructor(most: number) {
    this.enough = Math.min(ENOUGH_EVENTS, most);
  }

  /** A batch of this number of events was taken; `now` in milliseconds of a steady clock. */
  taken(events: number, now: number): void {
    this.#pace = this.#left(now) + events / WINDOW_MILLIS;
    this.#at = now;
  }

  /** Waits while many events come, until there are enough of them; `clock` is the one of {@link Pace.taken}. */
  async linger(hasEnough: () => boolean, signal: AbortSignal, clock: () => number): Promise<void> {
    const begun = clock();
    const end = begun + this.millis(begun);
    for (let left = end - begun; left > 0 && !hasEnough(); left = end - clock())
      if (!(await wait(Math.min(left, STEP_MILLIS), signal))) return;
  }

  /** The milliseconds in which enough events for the next batch come; 0 while few come. */
  millis(now: number): number {
    const pace = this.#left(now);
    return pace < BUSY_PACE ? 0 : Math.min(LONGEST_MILLIS, this.enough / pace);
  }

  #left(now: number): number {
    return this.#pace * Math.exp((this.#at - now) / WINDOW_MILLIS);
  }
}
