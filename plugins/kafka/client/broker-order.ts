import type { Address } from "./connections.js";

/** In which order brokers are asked what any of them knows: one that is in doubt after those that are not. */
export class BrokerOrder {
  readonly #doubted = new Map<string, number>();
  #doubts = 0;
  #answered: Address | undefined;

  /** The addresses, each once: those without a doubt in their order, then the ones that were doubted longest ago. */
  sorted(addresses: readonly Address[]): readonly Address[] {
    const distinct = [...new Map(addresses.map((address) => [keyOf(address), address])).values()];
    return distinct.sort((one, other) => this.#doubtOf(one) - this.#doubtOf(other));
  }

  answered(address: Address): void {
    this.#doubted.delete(keyOf(address));
    this.#answered = address;
  }

  /** It did not answer. */
  doubt(address: Address): void {
    this.#doubts += 1;
    this.#doubted.set(keyOf(address), this.#doubts);
  }

  /** What was answered last led nowhere: a broker that is cut off from the others does not know what became of them. */
  doubtAnswer(): void {
    if (this.#answered !== undefined) this.doubt(this.#answered);
  }

  #doubtOf(address: Address): number {
    return this.#doubted.get(keyOf(address)) ?? 0;
  }
}

function keyOf({ host, port }: Address): string {
  return `${host}:${port}`;
}
