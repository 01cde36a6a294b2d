import { getHeapStatistics } from "node:v8";
import type { Channel, Context, PutTransaction, Putting, ServiceHolding, TakeTransaction } from "deneb/sdk";
import { QueuePut, QueueTake } from "deneb/sdk/channel";
import { BoundedQueue } from "./bounded-queue.js";
import { type MemoryLimits, memorySchema } from "./config.js";

/** Of the heap limit; events take two to three times the memory that they count for. */
const SHARE_OF_HEAP = 0.2;
/** Of the heap limit; what a sink makes of a batch may take ten times the bytes for which it counts. */
const SHARE_OF_BATCH = 1 / 64;

export class MemoryChannel implements Channel {
  readonly transactionCapacity: number;
  readonly #name: string;
  readonly #queue: BoundedQueue;
  readonly #mostBytes = getHeapStatistics().heap_size_limit * SHARE_OF_BATCH;

  constructor(config: MemoryLimits, context: Context) {
    this.transactionCapacity = config.transactionCapacity;
    this.#name = context.name;
    const { capacity, "keep-alive": waitSeconds } = config;
    const limits = { channel: context.name, capacity, ...byteLimit(config), waitSeconds };
    this.#queue = new BoundedQueue(limits, config, this.#mostBytes);
  }

  get size(): number {
    return this.#queue.size;
  }

  get bytes(): number | undefined {
    return this.#queue.bytes;
  }

  largestServices(most: number): readonly ServiceHolding[] | undefined {
    return this.#queue.shares?.largest(most);
  }

  openPut(events = 0, putting?: Putting): PutTransaction {
    const most = Math.max(events, this.transactionCapacity);
    return new QueuePut(this.#queue, { channel: this.#name, most }, putting);
  }

  openTake(): TakeTransaction {
    const { transactionCapacity: most } = this;
    return new QueueTake(this.#queue, { channel: this.#name, most, mostBytes: this.#mostBytes });
  }

  async start(): Promise<void> {}

  async stop(): Promise<void> {
    this.#queue.close();
  }
}

function byteLimit({
  byteCapacity = memorySchema.byteCapacity.default,
  byteCapacityBufferPercentage: buffer = memorySchema.byteCapacityBufferPercentage.default,
}: MemoryLimits): { readonly byteCapacity?: number } {
  if (byteCapacity === 0) return {};
  const bytes = byteCapacity === -1 ? getHeapStatistics().heap_size_limit * SHARE_OF_HEAP : byteCapacity;
  return { byteCapacity: Math.floor(bytes * (1 - buffer / 100)) };
}
