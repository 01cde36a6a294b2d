import type { KafkaError } from "./kafka-error.js";

interface Failing {
  readonly since: number;
  readonly error: KafkaError;
}

/** Which brokers do not answer a reader, and since when. */
export class FetchFailures {
  readonly #bearableMillis: number;
  readonly #failing = new Map<number, Failing>();
  #isClusterAway = false;

  /** `bearableMillis` is how long one broker may be away while others answer. */
  constructor(bearableMillis: number) {
    this.#bearableMillis = bearableMillis;
  }

  note(node: number, error: KafkaError): void {
    this.#failing.set(node, { since: this.#failing.get(node)?.since ?? performance.now(), error });
  }

  answered(node: number): void {
    this.#failing.delete(node);
  }

  /** Why it does not answer; undefined where it does. */
  of(node: number): KafkaError | undefined {
    return this.#failing.get(node)?.error;
  }

  /** Forgets what others than these, which are all that are asked now, did before. */
  keep(nodes: readonly number[]): void {
    for (const node of [...this.#failing.keys()]) if (!nodes.includes(node)) this.#failing.delete(node);
  }

  /** Whether any broker said where the partitions are. */
  looked(isAnswered: boolean): void {
    this.#isClusterAway = !isAnswered;
  }

  /** The failure to be told of these brokers, which are all that are asked now; undefined for none. */
  worthTelling(asked: Iterable<number>): KafkaError | undefined {
    const nodes = [...asked];
    this.keep(nodes);
    const failing = [...this.#failing.values()];
    const isAllAway = this.#isClusterAway && failing.length === nodes.length;
    const now = performance.now();
    return failing.find(({ since }) => isAllAway || now - since > this.#bearableMillis)?.error;
  }
}
