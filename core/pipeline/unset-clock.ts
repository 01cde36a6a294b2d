/**
 * Times of a clock that is never set back: where that of the machine was, the time goes on from the last look at it. So what
 * waits does not become younger.
 */
export class UnsetClock {
  readonly #now: () => Date;
  #latest = Number.NEGATIVE_INFINITY;
  #behind = 0;

  constructor(now: () => Date) {
    this.#now = now;
  }

  /** Milliseconds. */
  now(): number {
    const now = this.#now().getTime();
    if (now < this.#latest) this.#behind += this.#latest - now;
    this.#latest = now;
    return now + this.#behind;
  }

  /** A time that the clock of the machine has shown; one that it has not reached again is of before it was set back. */
  of(shown: number): number {
    const now = this.now();
    return shown > now - this.#behind ? Math.min(shown, now) : shown + this.#behind;
  }

  /** What the clock of the machine would have shown then, had it always been as it is. */
  shown(time: number): number {
    return time - this.#behind;
  }
}
