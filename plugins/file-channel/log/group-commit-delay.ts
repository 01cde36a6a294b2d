import { setImmediate as nextTurn } from "node:timers/promises";

/** Milliseconds. */
const LONGEST_DELAY = 5;

/**
 * Decides when the waiting puts are written: as soon as half of all senders wait, counting those of the previous write,
 * which are about to send again. So one half is written while the other half is decoded. Where fewer arrive, the write
 * begins after a turn of the event loop that brought nothing more, and after LONGEST_DELAY in any case: a put is not
 * written alone while others of the same moment wait for it.
 */
export class GroupCommitDelay {
  readonly #waiting: () => number;
  readonly #now: () => number;
  #before = 0;

  /** `waiting` returns the number of waiting puts, `now` the milliseconds of a monotonic clock. */
  constructor(waiting: () => number, now: () => number = () => performance.now()) {
    this.#waiting = waiting;
    this.#now = now;
  }

  /** Resolves when it is time to write. */
  async elapsed(): Promise<void> {
    const half = Math.ceil((this.#before + this.#waiting()) / 2);
    const end = this.#now() + LONGEST_DELAY;
    for (let seen = 0; this.#waiting() > seen && this.#waiting() < half && this.#now() < end; ) {
      seen = this.#waiting();
      await nextTurn();
    }
    this.#before = this.#waiting();
  }
}
