/** Short connections in a row that are no chance. */
const SEVERAL = 3;

/**
 * Counts the connections in a row that the broker ends soon after it has let the client in: so it does where two clients have one
 * name, each of which it throws out for the other.
 */
export class ShortConnections {
  readonly #steadyMillis: number;
  #timer: NodeJS.Timeout | undefined;
  #count = 0;

  /** @param steadyMillis - a connection that has lasted as long is not short. */
  constructor(steadyMillis: number) {
    this.#steadyMillis = steadyMillis;
  }

  get areSeveral(): boolean {
    return this.#count >= SEVERAL;
  }

  /** A connection begins; `steady` is called when it has lasted behind several that did not. */
  begin(steady: () => void): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      const { areSeveral } = this;
      this.#count = 0;
      if (areSeveral) steady();
    }, this.#steadyMillis);
  }

  /** The connection ends, or none came about. */
  end(isByBroker = false): void {
    const isShort = this.#timer !== undefined && isByBroker;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#count = isShort ? this.#count + 1 : 0;
  }
}
