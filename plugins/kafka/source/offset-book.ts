import type { ReadPosition } from "../client/common-ends.js";
import { kafkaErrorOf } from "../client/kafka-error.js";
import { isOver, type Membership } from "./consumer-group.js";
import type { Committed, Coordinator } from "./coordinator.js";
import type { Mark } from "./mark.js";

type NotedPosition = ReadPosition & Mark;

interface Keeping {
  /** What is kept with an offset: what it is an offset of. */
  noteOf(position: NotedPosition): string;
  /** Called when Kafka has it. */
  told(position: Committed): void;
}

/** Up to where the records of each partition are in the channels, and up to where Kafka knows it. */
export class OffsetBook {
  readonly #coordinator: Coordinator;
  readonly #membership: Membership;
  readonly #keeping: Keeping;
  readonly #done = new Map<string, Committed>();
  #writing: Promise<void> | undefined;

  constructor(coordinator: Coordinator, membership: Membership, keeping: Keeping) {
    this.#coordinator = coordinator;
    this.#membership = membership;
    this.#keeping = keeping;
  }

  /** Everything before this position is in the channels, or was refused. */
  done(position: NotedPosition): void {
    const { topic, partition, offset, epoch } = position;
    this.#done.set(`${topic}:${partition}`, { topic, partition, offset, epoch, note: this.#keeping.noteOf(position) });
  }

  /** Tells Kafka, unless the signal aborts; one at a time. Rejects with a KafkaError when the brokers do not answer; that the group goes on without us is no failure. */
  async commit(signal: AbortSignal): Promise<void> {
    await this.#writing?.catch(() => undefined);
    this.#writing = this.#write(signal);
    await this.#writing;
  }

  async #write(signal: AbortSignal): Promise<void> {
    const offsets = [...this.#done.values()];
    if (offsets.length === 0) return;
    this.#done.clear();
    try {
      await this.#coordinator.commit(this.#membership, offsets, signal);
      for (const committed of offsets) this.#keeping.told(committed);
    } catch (error) {
      if (isOver(error)) return;
      for (const committed of offsets) {
        const key = `${committed.topic}:${committed.partition}`;
        if (!this.#done.has(key)) this.#done.set(key, committed);
      }
      throw kafkaErrorOf(error, "committing offsets");
    }
  }
}
