import { setImmediate as nextTurn } from "node:timers/promises";

/** Milliseconds. */
const LONGEST = 5;

/**
 * When the puts that wait are written: as soon as half of all senders wait, counting those of the write before, which
 * are about to send again. So one half is on disk while the other half is decoded. Where fewer come, when a turn of the
 * event loop brought nothing more, and after some milliseconds whatever comes: a put is not written alone while others
 * of the same moment wait for it.
 */
export class Gathering {
  readonly #waiting: () => number;
  readonly #now: () => number;
  #before = 0;

  /** `waiting` tells how many puts wait, `now` the milliseconds of a clock that never goes back. */
  constructor(waiting: () => number, now: () => number = () => performance.now()) {
    this.#waiting = waiting;
    this.#now = now;
  }

  /** Resolves when it is time to write. */
  async enough(): Promise<void> {
    const half = Math.ceil((this.#before + this.#waiting()) / 2);
    const end = this.#now() + LONGEST;
    for (let seen = 0; this.#waiting() > seen && this.#waiting() < half && this.#now() < end; ) {
      seen = this.#waiting();
      await nextTurn();
    }
    this.#before = this.#waiting();
  }
}
