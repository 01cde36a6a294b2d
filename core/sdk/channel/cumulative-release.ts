/** Of this number of places of released events the list is freed, once they are half of it. */
const MOST_RELEASED = 1000;

/**
 * For a log that is released only up to a place: events may be released in any order, and `upTo` is how far the log may be
 * released. One object for each partition of the log.
 * @stable
 */
export class CumulativeRelease {
  /** Sequence numbers that were taken and are not behind `upTo`; true: released. */
  readonly #taken = new Map<number, boolean>();
  // Their order, and where it begins: the first entry of a map is found behind all that were removed.
  #order: number[] = [];
  #begin = 0;
  #upTo: number | undefined;
  #last = Number.NEGATIVE_INFINITY;

  /** The last sequence number of which it and all that were taken before it are released; undefined before the first. */
  get upTo(): number | undefined {
    return this.#upTo;
  }

  /** Events that were taken and are not behind `upTo`: those that come again after a crash. */
  get held(): number {
    return this.#taken.size;
  }

  /** Events are handed out, in the order of the log; the numbers may have gaps. Those that were taken before count once. */
  take(sequences: Iterable<number>): void {
    for (const sequence of sequences) {
      if (sequence <= this.#last) continue;
      this.#taken.set(sequence, false);
      this.#order.push(sequence);
      this.#last = sequence;
    }
  }

  /** Events are done. True when `upTo` has moved, so that the log is to be released up to there. */
  release(sequences: Iterable<number>): boolean {
    for (const sequence of sequences) if (this.#taken.has(sequence)) this.#taken.set(sequence, true);
    const before = this.#upTo;
    for (let first = this.#first; first !== undefined && this.#taken.get(first) === true; first = this.#first) {
      this.#taken.delete(first);
      this.#begin += 1;
      this.#upTo = first;
    }
    this.#free();
    return this.#upTo !== before;
  }

  get #first(): number | undefined {
    return this.#order[this.#begin];
  }

  #free(): void {
    if (this.#begin < this.#order.length && (this.#begin < MOST_RELEASED || this.#begin < this.#order.length / 2))
      return;
    this.#order = this.#order.slice(this.#begin);
    this.#begin = 0;
  }
}
