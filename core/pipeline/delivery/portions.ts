/** Enough to write the events of any batch one by one. */
const MOST_DOUBLINGS = 16;
/** Batches without a write that took too long, before larger parts are tried. */
const CALM_BATCHES = 10;

/**
 * In how many parts a batch is written: twice as many after each write that took too long, half as many after ten batches of
 * which no write did.
 */
export class Portions {
  #doublings = 0;
  #calm = 0;

  /** The most events of one write, of a batch with this number of events. */
  most(events: number): number {
    return Math.ceil(events / 2 ** this.#doublings);
  }

  tookTooLong(): void {
    this.#doublings = Math.min(MOST_DOUBLINGS, this.#doublings + 1);
    this.#calm = 0;
  }

  /** A batch is stored. */
  stored(): void {
    this.#calm += 1;
    if (this.#calm < CALM_BATCHES) return;
    this.#doublings = Math.max(0, this.#doublings - 1);
    this.#calm = 0;
  }
}
