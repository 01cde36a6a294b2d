import { millisOf } from "../tokens.js";

/** Milliseconds that a clock may gain or lose on the uptime without having been set. */
const DRIFT = 60_000;

/**
 * Times of a clock that is not set back: where that of the machine was, the time goes on from the last look at it, so that what
 * waits does not become younger. Where that only undoes that it was set forward, the time is the right one again.
 */
export class UnsetClock {
  readonly #now: () => number;
  readonly #uptime: () => number;
  #latest: number;
  /** What the uptime was when the clock was right, and what the clock showed. */
  #right: { readonly shown: number; readonly uptime: number };
  #behind = 0;

  /** `uptime` is in milliseconds, and nobody sets it. */
  constructor(now: () => Date, uptime: () => number = () => performance.now()) {
    this.#now = millisOf(now);
    this.#uptime = uptime;
    this.#latest = this.#now();
    this.#right = { shown: this.#latest, uptime: uptime() };
  }

  /** Milliseconds. */
  now(): number {
    const now = this.#now();
    if (now < this.#latest) this.#setBack(now);
    this.#latest = now;
    return now + this.#behind;
  }

  #setBack(now: number): void {
    const uptime = this.#uptime();
    const gained = this.#latest - this.#right.shown - (uptime - this.#right.uptime);
    const undone = gained > DRIFT ? gained : 0;
    this.#behind += Math.max(0, this.#latest - now - undone);
    this.#right = { shown: now, uptime };
  }

  /** A time that the clock of the machine has shown; one that it has not reached again is from before it was set back. */
  of(shown: number): number {
    const now = this.now();
    return shown > now - this.#behind ? Math.min(shown, now) : shown + this.#behind;
  }

  /** What the clock of the machine would have shown then, if it had always been set like now. */
  shown(time: number): number {
    return time - this.#behind;
  }
}
