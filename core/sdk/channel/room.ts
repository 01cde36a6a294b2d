import { atOnce } from "../at-once.js";
import type { Waiting } from "../channel.js";
import type { AgentError } from "../errors.js";
import {
  type Amount,
  type ChannelLimits,
  channelFull,
  channelFullOfBytes,
  channelStopped,
  notificationTooLarge,
} from "./channel-errors.js";

/**
 * Lets puts in while a channel has room for them, in events and bytes, in the order in which they came. A put that
 * entered counts until it is settled; from then on what it added counts as held.
 * @stable
 */
export class Room {
  readonly #limits: ChannelLimits;
  readonly #held: () => Amount;
  readonly #waiting: WaitingPuts<Amount>;
  #events = 0;
  #bytes = 0;
  #closed = false;

  /** `held` returns what is in the channel, without the puts that entered and did not settle. */
  constructor(limits: ChannelLimits, held: () => Amount) {
    this.#limits = limits;
    this.#held = held;
    this.#waiting = new WaitingPuts(limits.waitSeconds * 1000);
  }

  /** Whether puts wait for room. */
  get hasWaiting(): boolean {
    return this.#waiting.first !== undefined;
  }

  /** Lets the put in when there is room at once and no other waits. */
  tryEnter(put: Amount): boolean {
    if (this.#closed || this.hasWaiting || !this.#fits(put)) return false;
    this.#enter(put);
    return true;
  }

  /** Resolves when the put is in. Rejects when there is no room, or will never be, or when the channel stops. */
  enter(put: Amount, waiting: Waiting = "wait"): Promise<void> {
    return this.tryEnter(put) ? atOnce : this.#enterLater(put, waiting);
  }

  async #enterLater(put: Amount, waiting: Waiting): Promise<void> {
    if (this.#closed) throw channelStopped(this.#limits.channel);
    if (!this.#couldFit(put)) throw notificationTooLarge(this.#limits, put);
    if (waiting === "at-once") throw this.#full(put);
    const admitted = await this.#waiting.wait(put);
    if (admitted && !this.#closed) return;
    if (admitted) this.settle(put);
    else this.admitWaiting();
    throw this.#closed ? channelStopped(this.#limits.channel) : this.#full(put);
  }

  /** The put is in the channel, or will never be. */
  settle({ events, bytes }: Amount): void {
    this.#events -= events;
    this.#bytes -= bytes;
    this.admitWaiting();
  }

  /** To be called when the channel holds less than before. */
  admitWaiting(): void {
    for (let put = this.#waiting.first; put !== undefined && this.#fits(put.item); put = this.#waiting.first) {
      this.#enter(put.item);
      put.settle(true);
    }
  }

  close(): void {
    this.#closed = true;
    this.#waiting.refuseAll();
  }

  #enter({ events, bytes }: Amount): void {
    this.#events += events;
    this.#bytes += bytes;
  }

  #fits(put: Amount): boolean {
    const { events, bytes } = this.#held();
    return this.#couldFit({
      events: events + this.#events + put.events,
      bytes: bytes + this.#bytes + put.bytes,
    });
  }

  #couldFit({ events, bytes }: Amount): boolean {
    const { capacity, byteCapacity } = this.#limits;
    return events <= capacity && (byteCapacity === undefined || bytes <= byteCapacity);
  }

  #full(put: Amount): AgentError {
    const { capacity } = this.#limits;
    const isOfEvents = this.#held().events + this.#events + put.events > capacity || put.bytes === 0;
    return isOfEvents ? channelFull(this.#limits, put.events) : channelFullOfBytes(this.#limits, put.bytes);
  }
}

/** Something that waits for room. */
export interface WaitingPut<Item> {
  readonly item: Item;
  /** Ends the waiting: true when it was let in. */
  settle(admitted: boolean): void;
}

/** Of this number of places of puts that have ended the list is freed, once they are half of it. */
const MOST_ENDED = 1000;

/** Puts that wait for room, first come first served, each up to its time-out. */
export class WaitingPuts<Item> {
  // A list and where it begins: the first entry of a set is found behind all that were removed.
  #places: (WaitingPut<Item> | undefined)[] = [];
  #begin = 0;
  readonly #waitMillis: number;

  constructor(waitMillis: number) {
    this.#waitMillis = waitMillis;
  }

  get first(): WaitingPut<Item> | undefined {
    return this.#places[this.#begin];
  }

  /** Resolves to false when there was no room in time. */
  wait(item: Item): Promise<boolean> {
    if (this.#waitMillis === 0) return Promise.resolve(false);
    return new Promise((resolve) => {
      const timer = setTimeout(() => put.settle(false), this.#waitMillis);
      const put: WaitingPut<Item> = {
        item,
        settle: (admitted) => {
          clearTimeout(timer);
          this.#end(put);
          resolve(admitted);
        },
      };
      this.#places.push(put);
    });
  }

  refuseAll(): void {
    for (let put = this.first; put !== undefined; put = this.first) put.settle(false);
  }

  /** Mostly the first one: all wait equally long. */
  #end(put: WaitingPut<Item>): void {
    const at = this.#places.indexOf(put, this.#begin);
    if (at === -1) return;
    this.#places[at] = undefined;
    while (this.#begin < this.#places.length && this.#places[this.#begin] === undefined) this.#begin += 1;
    if (this.#begin < this.#places.length && (this.#begin < MOST_ENDED || this.#begin < this.#places.length / 2))
      return;
    this.#places = this.#places.slice(this.#begin);
    this.#begin = 0;
  }
}
