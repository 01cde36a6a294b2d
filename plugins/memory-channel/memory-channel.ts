import type { Channel, Context, PutTransaction, TakeTransaction } from "deneb/sdk";
import { QueuePut, QueueTake } from "deneb/sdk/channel";
import { BoundedQueue } from "./bounded-queue.js";
import type { MemoryConfig } from "./config.js";

export class MemoryChannel implements Channel {
  readonly transactionCapacity: number;
  readonly #name: string;
  readonly #queue: BoundedQueue;

  constructor(config: MemoryConfig, context: Context) {
    this.transactionCapacity = config.transactionCapacity;
    this.#name = context.name;
    this.#queue = new BoundedQueue({
      channel: context.name,
      capacity: config.capacity,
      patience: config["keep-alive"],
    });
  }

  get size(): number {
    return this.#queue.size;
  }

  openPut(): PutTransaction {
    return new QueuePut(this.#queue, { channel: this.#name, most: this.transactionCapacity });
  }

  openTake(): TakeTransaction {
    return new QueueTake(this.#queue, { channel: this.#name, most: this.transactionCapacity });
  }

  async start(): Promise<void> {}

  async stop(): Promise<void> {
    this.#queue.close();
  }
}
