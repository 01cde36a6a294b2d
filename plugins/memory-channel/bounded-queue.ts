import { AgentError, type Event } from "deneb/sdk";
import { EventRing } from "./event-ring.js";
import { WaitingPuts } from "./waiting-puts.js";
import { WaitingTakes } from "./waiting-takes.js";

export interface QueueLimits {
  readonly channel: string;
  readonly capacity: number;
  /** Seconds a put waits for room. */
  readonly patience: number;
}

/** First in, first out, with an upper bound; events taken count until they are released. */
export class BoundedQueue {
  readonly #limits: QueueLimits;
  readonly #queued = new EventRing();
  readonly #puts: WaitingPuts;
  readonly #takes = new WaitingTakes();
  #taken = 0;
  #closed = false;

  constructor(limits: QueueLimits) {
    this.#limits = limits;
    this.#puts = new WaitingPuts(limits.patience * 1000);
  }

  get size(): number {
    return this.#queued.length + this.#taken;
  }

  /** Adds all events or none, after those that already wait for room. */
  async add(events: readonly Event[]): Promise<void> {
    if (this.#closed) throw stopped(this.#limits);
    if (this.#puts.first === undefined && this.#hasRoom(events)) return this.#append(events);
    if (await this.#puts.wait(events)) return;
    this.#admitWaiting();
    throw this.#closed ? stopped(this.#limits) : full(this.#limits, events.length);
  }

  async take(max: number, signal: AbortSignal): Promise<readonly Event[]> {
    if (this.#queued.length > 0) return this.#draw(max);
    if (this.#closed || signal.aborted) return [];
    return this.#takes.wait(max, signal);
  }

  /** Forgets events that were taken. */
  release(count: number): void {
    this.#taken -= count;
    this.#admitWaiting();
  }

  /** Puts events that were taken back to the front. */
  restore(events: readonly Event[]): void {
    this.#taken -= events.length;
    this.#queued.unshift(events);
    this.#serveWaiting();
  }

  close(): void {
    this.#closed = true;
    this.#puts.refuseAll();
    this.#takes.releaseAll();
  }

  #hasRoom(events: readonly Event[]): boolean {
    return this.size + events.length <= this.#limits.capacity;
  }

  #append(events: readonly Event[]): void {
    this.#queued.push(events);
    this.#serveWaiting();
  }

  #draw(max: number): readonly Event[] {
    const events = this.#queued.shift(max);
    this.#taken += events.length;
    return events;
  }

  #admitWaiting(): void {
    for (let put = this.#puts.first; put !== undefined && this.#hasRoom(put.events); put = this.#puts.first) {
      put.settle(true);
      this.#append(put.events);
    }
  }

  #serveWaiting(): void {
    for (let take = this.#takes.first; take !== undefined && this.#queued.length > 0; take = this.#takes.first) {
      take.settle(this.#draw(take.max));
    }
  }
}

function full({ channel, capacity, patience }: QueueLimits, count: number): AgentError {
  const events = count === 1 ? "1 event" : `${count} events`;
  return new AgentError(
    "CHANNEL_FULL",
    `channel "${channel}" is full: no room for ${events} within ${patience} s, its capacity is ${capacity}`,
    { retryable: true },
  );
}

function stopped({ channel }: QueueLimits): AgentError {
  return new AgentError("CHANNEL_STOPPED", `putting into channel "${channel}", which has stopped`, { retryable: true });
}
