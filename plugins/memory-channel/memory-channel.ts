import { getHeapStatistics } from "node:v8";
import {
  AgentError,
  type Channel,
  type Context,
  type Event,
  type PutTransaction,
  type TakeTransaction,
  type Waiting,
} from "deneb/sdk";
import {
  type Amount,
  type ChannelLimits,
  channelStopped,
  type EventQueue,
  type QueuedEvent,
  QueuePut,
  QueueTake,
  type Reservation,
  Room,
  SequenceRing,
  WaitingTakes,
} from "deneb/sdk/channel";
import { type MemoryLimits, memorySchema } from "./config.js";

/** Of the heap limit; events take two to three times the memory that they count for. */
const SHARE_OF_HEAP = 0.2;

export class MemoryChannel implements Channel {
  readonly transactionCapacity: number;
  readonly #name: string;
  readonly #queue: BoundedQueue;

  constructor(config: MemoryLimits, context: Context) {
    this.transactionCapacity = config.transactionCapacity;
    this.#name = context.name;
    this.#queue = new BoundedQueue({
      channel: context.name,
      capacity: config.capacity,
      ...byteLimit(config),
      waitSeconds: config["keep-alive"],
    });
  }

  get size(): number {
    return this.#queue.size;
  }

  get bytes(): number | undefined {
    return this.#queue.bytes;
  }

  openPut(events = 0): PutTransaction {
    return new QueuePut(this.#queue, { channel: this.#name, most: Math.max(events, this.transactionCapacity) });
  }

  openTake(): TakeTransaction {
    return new QueueTake(this.#queue, { channel: this.#name, most: this.transactionCapacity });
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

/** First in, first out, with an upper bound; events taken count until they are released. */
class BoundedQueue implements EventQueue {
  readonly #limits: ChannelLimits;
  readonly #queued = new SequenceRing();
  readonly #room: Room;
  readonly #takes = new WaitingTakes();
  #sequence = 0;
  #taken = 0;
  #bytes = 0;
  #closed = false;

  constructor(limits: ChannelLimits) {
    this.#limits = limits;
    this.#room = new Room(limits, () => ({ events: this.size, bytes: this.#bytes }));
  }

  /** Undefined without a limit: then they are not counted. */
  get bytes(): number | undefined {
    return this.#limits.byteCapacity === undefined ? undefined : this.#bytes;
  }

  get size(): number {
    return this.#queued.length + this.#taken;
  }

  /** Adds all events or none, after those that already wait for room. */
  async add(events: readonly Event[]): Promise<void> {
    const put = this.#weighed(events);
    if (!this.#room.tryEnter(put)) await this.#room.enter(put);
    this.#append(put);
  }

  async reserve(events: readonly Event[], waiting: Waiting): Promise<Reservation> {
    const put = this.#weighed(events);
    await this.#room.enter(put, waiting);
    return {
      add: async () => {
        if (this.#closed) throw channelStopped(this.#limits.channel);
        this.#append(put);
      },
      release: () => this.#room.settle(put),
    };
  }

  async take(max: number, signal: AbortSignal): Promise<readonly QueuedEvent[]> {
    if (this.#queued.length > 0) return this.#draw(max);
    if (this.#closed || signal.aborted) return [];
    return this.#takes.wait(max, signal);
  }

  async release(taken: readonly QueuedEvent[]): Promise<void> {
    this.#taken -= taken.length;
    for (const { bytes = 0 } of taken) this.#bytes -= bytes;
    this.#room.admitWaiting();
  }

  restore(taken: readonly QueuedEvent[]): void {
    this.#taken -= taken.length;
    this.#queued.restore(taken);
    this.#serveWaiting();
  }

  close(): void {
    this.#closed = true;
    this.#room.close();
    this.#takes.releaseAll();
  }

  /** Events are weighed only where a limit needs it. */
  #weighed(list: readonly Event[]): WeighedPut {
    if (this.#limits.byteCapacity === undefined) return { list, weights: [], events: list.length, bytes: 0 };
    const weights: number[] = [];
    let bytes = 0;
    for (const event of list) {
      const weight = weightOf(event);
      weights.push(weight);
      bytes += weight;
    }
    return { list, weights, events: list.length, bytes };
  }

  /** Of a put that entered: from now on its events are held. */
  #append(put: WeighedPut): void {
    const { list, weights } = put;
    this.#queued.push(list.map((event, at) => ({ sequence: ++this.#sequence, event, bytes: weights[at] ?? 0 })));
    this.#bytes += put.bytes;
    this.#room.settle(put);
    this.#serveWaiting();
  }

  #draw(max: number): readonly QueuedEvent[] {
    const events = this.#queued.shift(max);
    this.#taken += events.length;
    return events;
  }

  #serveWaiting(): void {
    for (let take = this.#takes.first; take !== undefined && this.#queued.length > 0; take = this.#takes.first) {
      take.settle(this.#draw(take.max));
    }
  }
}

interface WeighedPut extends Amount {
  readonly list: readonly Event[];
  /** Of each event; none where there is no limit. */
  readonly weights: readonly number[];
}

/** What JSON writes around a member: quotes, colon and comma. */
const MEMBER = 4;
/** A number, `true`, `false` or `null`. */
const SHORT = 8;
const DEEPEST = 1000;

/**
 * About the number of bytes that an event has as JSON text, without writing that text: characters of strings and names
 * count one byte each. Throws code `EVENT_TOO_DEEP` for a body without an end.
 */
export function weightOf({ headers, body }: Event): number {
  let weight = 2 * MEMBER;
  for (const name in headers) weight += name.length + (headers[name]?.length ?? 0) + MEMBER;
  return weight + weightOfValue(body, 0);
}

function weightOfValue(value: unknown, depth: number): number {
  if (typeof value === "string") return value.length + 2;
  if (typeof value !== "object" || value === null) return SHORT;
  if (depth > DEEPEST) {
    throw new AgentError("EVENT_TOO_DEEP", `an event is nested deeper than ${DEEPEST} levels, or contains itself`, {
      retryable: false,
    });
  }
  let weight = 2;
  if (Array.isArray(value)) {
    for (const item of value) weight += weightOfValue(item, depth + 1) + 1;
    return weight;
  }
  // Object.entries makes a list for each object and takes five times as long.
  if (isRecord(value)) for (const name in value) weight += name.length + MEMBER + weightOfValue(value[name], depth + 1);
  return weight;
}

function isRecord(value: object): value is Readonly<Record<string, unknown>> {
  return !Array.isArray(value);
}
