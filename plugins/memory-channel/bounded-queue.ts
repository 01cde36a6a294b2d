import type { Event } from "deneb/sdk";
import {
  type ChannelLimits,
  channelFull,
  channelStopped,
  type EventQueue,
  type QueuedEvent,
  SequenceRing,
  WaitingPuts,
  WaitingTakes,
} from "deneb/sdk/channel";

/** First in, first out, with an upper bound; events taken count until they are released. */
export class BoundedQueue implements EventQueue {
  readonly #limits: ChannelLimits;
  readonly #queued = new SequenceRing();
  readonly #puts: WaitingPuts<readonly Event[]>;
  readonly #takes = new WaitingTakes();
  #sequence = 0;
  #taken = 0;
  #closed = false;

  constructor(limits: ChannelLimits) {
    this.#limits = limits;
    this.#puts = new WaitingPuts(limits.patience * 1000);
  }

  get size(): number {
    return this.#queued.length + this.#taken;
  }

  /** Adds all events or none, after those that already wait for room. */
  add(events: readonly Event[]): Promise<void> {
    if (this.#closed) return Promise.reject(channelStopped(this.#limits.channel));
    if (this.#puts.first !== undefined || !this.#hasRoom(events)) return this.#addLater(events);
    this.#append(events);
    return Promise.resolve();
  }

  async take(max: number, signal: AbortSignal): Promise<readonly QueuedEvent[]> {
    if (this.#queued.length > 0) return this.#draw(max);
    if (this.#closed || signal.aborted) return [];
    return this.#takes.wait(max, signal);
  }

  async release(taken: readonly QueuedEvent[]): Promise<void> {
    this.#taken -= taken.length;
    this.#admitWaiting();
  }

  restore(taken: readonly QueuedEvent[]): void {
    this.#taken -= taken.length;
    this.#queued.restore(taken);
    this.#serveWaiting();
  }

  close(): void {
    this.#closed = true;
    this.#puts.refuseAll();
    this.#takes.releaseAll();
  }

  async #addLater(events: readonly Event[]): Promise<void> {
    if (await this.#puts.wait(events)) return;
    this.#admitWaiting();
    throw this.#closed ? channelStopped(this.#limits.channel) : channelFull(this.#limits, events.length);
  }

  #hasRoom(events: readonly Event[]): boolean {
    return this.size + events.length <= this.#limits.capacity;
  }

  #append(events: readonly Event[]): void {
    this.#queued.push(events.map((event) => ({ sequence: ++this.#sequence, event })));
    this.#serveWaiting();
  }

  #draw(max: number): readonly QueuedEvent[] {
    const events = this.#queued.shift(max);
    this.#taken += events.length;
    return events;
  }

  #admitWaiting(): void {
    for (let put = this.#puts.first; put !== undefined && this.#hasRoom(put.item); put = this.#puts.first) {
      put.settle(true);
      this.#append(put.item);
    }
  }

  #serveWaiting(): void {
    for (let take = this.#takes.first; take !== undefined && this.#queued.length > 0; take = this.#takes.first) {
      take.settle(this.#draw(take.max));
    }
  }
}
