import type { Event, Putting, Waiting } from "deneb/sdk";
import {
  type Amount,
  atOnce,
  type ChannelLimits,
  type Claim,
  channelStopped,
  type EventQueue,
  type QueuedEvent,
  type Reservation,
  Room,
  SequenceRing,
  ServiceShares,
  ServiceTurns,
  type SharingConfig,
  serviceKey,
  WaitingTakes,
} from "deneb/sdk/channel";
import { weightOf } from "./weight.js";

/** First in, first out, with an upper bound; events taken count until they are released. */
export class BoundedQueue implements EventQueue {
  /** Undefined where services are not told apart: then nothing is counted by service. */
  readonly shares: ServiceShares | undefined;
  readonly #limits: ChannelLimits;
  readonly #queued: SequenceRing | ServiceTurns;
  readonly #room: Room;
  readonly #takes = new WaitingTakes();
  readonly #mostBytes: number;
  #sequence = 0;
  #taken = 0;
  #bytes = 0;
  #closed = false;

  /** `mostBytes`: bytes that are handed out at a time, about. */
  constructor(limits: ChannelLimits, sharing: Partial<SharingConfig>, mostBytes: number) {
    this.#mostBytes = mostBytes;
    const { service_percentage: percentage = 100, fair_taking = false } = sharing;
    this.shares = percentage < 100 || fair_taking ? new ServiceShares({ ...limits, percentage }) : undefined;
    this.#queued = fair_taking ? new ServiceTurns() : new SequenceRing();
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
  add(events: readonly Event[], putting?: Putting): Promise<void> {
    try {
      const put = this.#weighed(events);
      const claim = this.#claim(put, putting);
      if (!this.#room.tryEnter(put)) return this.#addLater(put, claim);
      this.#append(put);
      return atOnce;
    } catch (error) {
      return Promise.reject(error);
    }
  }

  async reserve(events: readonly Event[], waiting: Waiting, putting?: Putting): Promise<Reservation> {
    const put = this.#weighed(events);
    const claim = this.#claim(put, putting);
    await this.#enter(put, claim, waiting);
    const release = () => {
      this.#giveBack(claim);
      this.#room.settle(put);
    };
    return {
      add: async () => {
        if (this.#closed) {
          this.#giveBack(claim);
          throw channelStopped(this.#limits.channel);
        }
        this.#append(put);
      },
      release,
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
    const { shares } = this;
    if (shares !== undefined)
      for (const { event, bytes = 0 } of taken) shares.remove(serviceKey(event), { events: 1, bytes });
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

  #claim({ list, weights }: WeighedPut, putting: Putting | undefined): Claim | undefined {
    return this.shares?.claim(list, (at) => weights[at] ?? 0, putting);
  }

  #giveBack(claim: Claim | undefined): void {
    if (claim !== undefined) this.shares?.giveBack(claim);
  }

  async #addLater(put: WeighedPut, claim: Claim | undefined): Promise<void> {
    await this.#enter(put, claim);
    this.#append(put);
  }

  async #enter(put: WeighedPut, claim: Claim | undefined, waiting?: Waiting): Promise<void> {
    try {
      await this.#room.enter(put, waiting);
    } catch (error) {
      this.#giveBack(claim);
      throw error;
    }
  }

  /** Events are weighed only where a limit needs it. */
  #weighed(list: readonly Event[]): WeighedPut {
    if (this.#limits.byteCapacity === undefined) return { list, weights: [], events: list.length, bytes: 0 };
    const weights = list.map(weightOf);
    let bytes = 0;
    for (const weight of weights) bytes += weight;
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
    const events = this.#queued.shift(max, this.#mostBytes);
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
