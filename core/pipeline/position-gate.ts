/**
 * What a sink has stored already must be left out before anyone takes from its channel. Each sink of a channel joins
 * when it is created and arrives with the positions it has kept; the gate opens when all have arrived, once.
 */
export class PositionGate {
  readonly #skipTo: (position: string) => Promise<void>;
  readonly #opening = new AbortController();
  #missing = 0;

  constructor(skipTo: (position: string) => Promise<void>) {
    this.#skipTo = skipTo;
  }

  /** A sink that joins after the gate has opened passes at once: what it replaces has told already. */
  join(): void {
    this.#missing += 1;
  }

  /** Resolves to true when the gate is open, to false when the signal aborts first. */
  async arrive(positions: readonly string[], signal: AbortSignal): Promise<boolean> {
    if (this.#opening.signal.aborted) return true;
    for (const position of positions) await this.#skipTo(position);
    this.#missing -= 1;
    if (this.#missing <= 0) this.#opening.abort();
    return await this.#opened(signal);
  }

  #opened(signal: AbortSignal): Promise<boolean> {
    const { signal: opening } = this.#opening;
    if (opening.aborted || signal.aborted) return Promise.resolve(opening.aborted);
    return new Promise((resolve) => {
      const end = () => {
        opening.removeEventListener("abort", end);
        signal.removeEventListener("abort", end);
        resolve(opening.aborted);
      };
      opening.addEventListener("abort", end);
      signal.addEventListener("abort", end);
    });
  }
}
