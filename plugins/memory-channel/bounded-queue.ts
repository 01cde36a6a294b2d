import type { Event, Waiting } from "deneb/sdk";
import {
  type Amount,
  type ChannelLimits,
  channelStopped,
  type EventQueue,
  type QueuedEvent,
  type Reservation,
  Room,
  SequenceRing,
  WaitingTakes,
} from "deneb/sdk/channel";
import { weightOf } from "./weight.js";

/** First in, first out, with an upper bound; events taken count until they are released. */
export class BoundedQueue implements EventQueue {
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
