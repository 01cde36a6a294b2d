/** Enough to write the events of any batch one by one. */
const MOST_DOUBLINGS = 16;
/** Batches in parts of a size that was not too large, before a size is tried again that was. */
const CALM_BATCHES = 10;

/**
 * In how many parts a batch is written: twice as many after each write that took too long, half as many after a batch without
 * one. A size that then takes too long again, as in a store that is always slow, is tried after ten batches only.
 */
export class Portions {
  #doublings = 0;
  /** Batches since the size changed. */
  #calm = 0;
  #wantedCalm = 1;
  #hasGrown = false;

  /** The most events of one write, of a batch with this number of events. */
  most(events: number): number {
    return Math.ceil(events / 2 ** this.#doublings);
  }

  tookTooLong(): void {
    if (this.#hasGrown) this.#wantedCalm = CALM_BATCHES;
    this.#become(Math.min(MOST_DOUBLINGS, this.#doublings + 1), false);
  }

  /** A batch is stored. */
  stored(): void {
    this.#calm += 1;
    if (this.#calm < this.#wantedCalm) return;
    if (this.#doublings === 0) this.#wantedCalm = 1;
    this.#become(Math.max(0, this.#doublings - 1), this.#doublings > 0);
  }

  #become(doublings: number, hasGrown: boolean): void {
    this.#doublings = doublings;
    this.#hasGrown = hasGrown;
    this.#calm = 0;
  }
}
