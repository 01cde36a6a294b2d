import type { Place } from "./directory.js";
import type { KafkaError } from "./kafka-error.js";
import type { Position } from "./offsets.js";

/** How often records that cannot be decoded are asked for again: the same ones come, and all of them each time. */
const AGAIN_MILLIS = 5000;

interface Unreadable {
  readonly offset: number;
  readonly error: KafkaError;
  readonly until: number;
}

/** Positions at which records stand that cannot be decoded: each holds up its own partition. */
export class UnreadablePositions {
  readonly #unreadable = new Map<string, Unreadable>();

  note({ topic, partition, offset }: Position, error: KafkaError): void {
    this.#unreadable.set(`${topic}:${partition}`, { offset, error, until: performance.now() + AGAIN_MILLIS });
  }

  /** Something was read of the partition, or it has nothing more. */
  forget({ topic, partition }: Place): void {
    this.#unreadable.delete(`${topic}:${partition}`);
  }

  /** Why the records of a partition cannot be decoded; undefined where they can. */
  of({ topic, partition }: Place): KafkaError | undefined {
    return this.#unreadable.get(`${topic}:${partition}`)?.error;
  }

  /** The positions to ask for now: without those that wait. */
  apply(positions: readonly Position[]): readonly Position[] {
    if (this.#unreadable.size === 0) return positions;
    const now = performance.now();
    return positions.filter(({ topic, partition, offset }) => {
      const known = this.#unreadable.get(`${topic}:${partition}`);
      return known?.offset !== offset || now >= known.until;
    });
  }
}
