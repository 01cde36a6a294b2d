import type { Channel, Context, PutTransaction, TakeTransaction } from "deneb/sdk";
import { BoundedQueue } from "./bounded-queue.js";
import type { MemoryConfig } from "./config.js";
import { MemoryPut } from "./memory-put.js";
import { MemoryTake } from "./memory-take.js";

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
    return new MemoryPut(this.#queue, { channel: this.#name, most: this.transactionCapacity });
  }

  openTake(): TakeTransaction {
    return new MemoryTake(this.#queue, { channel: this.#name, most: this.transactionCapacity });
  }

  async start(): Promise<void> {}

  async stop(): Promise<void> {
    this.#queue.close();
  }
}
