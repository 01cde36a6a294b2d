import { RecentMap } from "../contract/recent-map.js";
import { hasPassed } from "./known-store.js";

const FIRST_MILLIS = 10_000;
const LONGEST_MILLIS = 600_000;
const MOST_REMEMBERED = 10_000;

interface Pause {
  readonly at: number;
  readonly millis: number;
}

/**
 * Pauses after failures of what rows do not need, by a key. The first is short, since what failed may be a disk or a limit of open
 * files; each further one is twice as long, since it may be a right that is missing, until one try succeeds.
 */
export class GrowingPauses {
  readonly #pauses = new RecentMap<Pause>(MOST_REMEMBERED);

  /** Returns its length in milliseconds. */
  begin(key: string, now: number): number {
    const before = this.#pauses.get(key);
    const millis = before === undefined ? FIRST_MILLIS : Math.min(2 * before.millis, LONGEST_MILLIS);
    this.#pauses.set(key, { at: now, millis });
    return millis;
  }

  isOver(key: string, now: number): boolean {
    return this.left(key, now) === 0;
  }

  /** Milliseconds until it is over; 0 when it is. */
  left(key: string, now: number): number {
    const pause = this.#pauses.get(key);
    if (pause === undefined || hasPassed(pause.millis, pause.at, now)) return 0;
    return pause.at + pause.millis - now;
  }

  /** After a success; true when there was a failure before. */
  end(key: string): boolean {
    const failed = this.#pauses.get(key) !== undefined;
    this.#pauses.delete(key);
    return failed;
  }
}
