import type { Event, Logger, Putting, ServiceHolding, Waiting } from "deneb/sdk";
import {
  atOnce,
  type ChannelLimits,
  channelStopped,
  type EventQueue,
  type QueuedEvent,
  type QueuePositions,
  type Reservation,
  Room,
  type SharingConfig,
  WaitingTakes,
} from "deneb/sdk/channel";
import type { Ended, LogPut, Written } from "./log/appender.js";
import { EventLog, type LogSettings } from "./log/event-log.js";
import { type RecordText, storedBytes } from "./log/records.js";
import { textsOf } from "./log/stored-event.js";
import type { Supply } from "./log/supply.js";
import { supplyOf } from "./log/supply-of.js";
import { saveUnsaved } from "./log/unsaved.js";

interface QueueLimits extends ChannelLimits, SharingConfig {
  /** Events kept in memory alone; further ones go to disk. */
  readonly memoryCapacity: number;
}

/** First in, first out over a log on disk; only what is about to be taken is in memory. */
export class LogQueue implements EventQueue {
  readonly #limits: QueueLimits;
  readonly #log: Logger;
  readonly #events: EventLog;
  readonly #room: Room;
  readonly #supply: Supply;
  readonly #takes = new WaitingTakes();
  /** Events that are in memory alone, by sequence number. */
  readonly #unsaved = new Map<number, Event>();
  /** Puts that are being written. */
  #appending = 0;
  /** Events in memory alone that could not be written when the channel closed. */
  #unsavable = 0;
  #closed = false;

  constructor(limits: QueueLimits, settings: LogSettings, log: Logger) {
    this.#limits = limits;
    this.#log = log;
    this.#events = new EventLog(settings, log, {
      written: this.#written,
      ended: this.#ended,
      freed: () => this.#room.admitWaiting(),
    });
    this.#supply = supplyOf(limits, this.#events);
    this.#room = new Room(limits, () => ({ events: this.size, bytes: this.#events.usedBytes }));
  }

  get bytes(): number {
    return this.#events.usedBytes;
  }

  get size(): number {
    return this.#events.size;
  }

  /** Events that are in memory alone. */
  get unsaved(): number {
    return this.#unsaved.size;
  }

  get lost(): number {
    return this.#events.lost + this.#unsavable;
  }

  largestServices(most: number): readonly ServiceHolding[] | undefined {
    return this.#supply.largestServices(most);
  }

  async open(): Promise<void> {
    await this.#events.open();
    await this.#supply.open();
    const { id, done } = this.#events.state;
    this.#log.info({ channel: id, waiting: this.size, position: done.low }, "channel opened");
  }

  /** Not async: a put that finds room has the promise of the write that it shares, and no others of its own. */
  add(events: readonly Event[], putting?: Putting): Promise<void> {
    try {
      if (this.#closed) throw channelStopped(this.#limits.channel);
      if (this.#addInMemory(events, putting)) return atOnce;
      const put = this.#claimed(events, putting);
      return this.#room.tryEnter(put.amount) ? this.#append(put) : this.#addLater(put);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  async #addLater(put: LogPut): Promise<void> {
    await this.#enter(put);
    await this.#append(put);
  }

  async reserve(events: readonly Event[], waiting: Waiting, putting?: Putting): Promise<Reservation> {
    if (this.#closed) throw channelStopped(this.#limits.channel);
    const put = this.#claimed(events, putting);
    await this.#enter(put, waiting);
    return {
      add: async () => {
        if (!this.#closed && this.#fitsInMemory(events)) {
          this.#remember(events, put.texts);
          this.#room.settle(put.amount);
        } else await this.#append(put);
      },
      release: () => this.#leave(put),
    };
  }

  async take(max: number, signal: AbortSignal): Promise<readonly QueuedEvent[]> {
    const taken = await this.#taken(max, signal);
    if (taken.length > 0) await this.#events.claimRun();
    return this.#events.marked(taken);
  }

  async #taken(max: number, signal: AbortSignal): Promise<readonly QueuedEvent[]> {
    for (let waits = false; !this.#closed && !(waits && signal.aborted); ) {
      const ready = this.#supply.shift(max);
      if (ready.length > 0) return ready;
      waits = !this.#supply.unread;
      const taken = waits ? await this.#takes.wait(max, signal) : await this.#read(max);
      if (taken.length > 0) return taken;
    }
    return [];
  }

  /** What was read while the channel closed stays in it. */
  async #read(max: number): Promise<readonly QueuedEvent[]> {
    const read = await this.#supply.read(max);
    if (this.#closed) return [];
    this.#serveWaiting();
    return read;
  }

  async release(taken: readonly QueuedEvent[]): Promise<void> {
    if (this.#closed) throw channelStopped(this.#limits.channel);
    this.#events.complete(taken);
    this.#supply.release(taken);
    this.#room.admitWaiting();
    if (this.#hasSaved(taken)) await this.#events.saveDone();
    this.#room.admitWaiting();
  }

  async leave(taken: readonly QueuedEvent[]): Promise<void> {
    await this.release(taken);
  }

  /** Forgets those that are in memory alone; whether others are among them. */
  #hasSaved(taken: readonly QueuedEvent[]): boolean {
    if (this.#unsaved.size === 0) return taken.length > 0;
    return taken.filter(({ sequence }) => !this.#unsaved.delete(sequence)).length > 0;
  }

  restore(taken: readonly QueuedEvent[]): void {
    this.#supply.restore(taken);
    this.#serveWaiting();
  }

  readonly positions: QueuePositions = {
    after: (taken) => this.#events.positionAfter(taken),
    coveredBy: (position, taken) => this.#events.coveredBy(position, taken),
    idOf: ({ sequence }) => this.#events.idOf(sequence),
  };

  async skipTo(position: string): Promise<number> {
    return await this.#withoutDone(() => this.#events.skipTo(position));
  }

  async leaveOut(ids: AsyncIterable<string>): Promise<number> {
    return await this.#withoutDone(() => this.#events.leaveOut(ids));
  }

  /** What is done now is not handed out any more. */
  async #withoutDone(finish: () => Promise<number>): Promise<number> {
    await this.#supply.idle();
    const skipped = await finish();
    for (const sequence of await this.#supply.drop()) this.#unsaved.delete(sequence);
    this.#room.admitWaiting();
    return skipped;
  }

  /** Ends all waiting; events in memory alone are written to disk. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#room.close();
    this.#takes.releaseAll();
    await this.#events.idle();
    await this.#supply.idle();
    if (this.#unsaved.size > 0) this.#unsavable = await saveUnsaved(this.#unsaved, this.#events.appender, this.#log);
    this.#unsaved.clear();
    await this.#events.close();
  }

  #claimed(events: readonly Event[], putting: Putting | undefined): LogPut {
    const texts = textsOf(events, this.#events.codecs);
    const giveBack = this.#supply.claim(events, texts, putting);
    return { events, texts, amount: { events: events.length, bytes: storedBytes(texts) }, giveBack };
  }

  async #enter(put: LogPut, waiting?: Waiting): Promise<void> {
    try {
      await this.#room.enter(put.amount, waiting);
    } catch (error) {
      put.giveBack();
      throw error;
    }
  }

  /** A put that was let in will never be in the channel. */
  #leave(put: LogPut): void {
    put.giveBack();
    this.#room.settle(put.amount);
  }

  #addInMemory(events: readonly Event[], putting: Putting | undefined): boolean {
    if (!this.#fitsInMemory(events)) return false;
    const giveBack = this.#supply.claim(events, undefined, putting);
    const amount = { events: events.length, bytes: 0 };
    if (!this.#room.tryEnter(amount)) {
      giveBack();
      return false;
    }
    this.#remember(events, undefined);
    this.#room.settle(amount);
    return true;
  }

  /** In memory alone only while nothing on disk, or on its way there, would have to come first. */
  #fitsInMemory(events: readonly Event[]): boolean {
    const fits = this.#unsaved.size + events.length <= this.#limits.memoryCapacity;
    if (!fits || !this.#events.appender.hasNumbersFor(events.length)) return false;
    return this.#appending === 0 && !this.#supply.isBehind;
  }

  /** Writes a put that has its room. */
  #append(put: LogPut): Promise<void> {
    try {
      if (this.#closed) throw channelStopped(this.#limits.channel);
      const written = this.#events.appender.append(put);
      this.#appending += 1;
      return written;
    } catch (error) {
      this.#leave(put);
      throw error;
    }
  }

  #remember(events: readonly Event[], texts: readonly RecordText[] | undefined): void {
    const numbered = this.#events.appender.number(events);
    for (const { sequence, event } of numbered) this.#unsaved.set(sequence, event);
    this.#supply.remember(numbered, texts);
    this.#serveWaiting();
  }

  readonly #written: Written = (group) => {
    if (this.#supply.written(group)) this.#serveWaiting();
  };

  readonly #ended: Ended = (puts, failed) => {
    this.#appending -= puts.length;
    for (const put of puts) {
      if (failed) put.giveBack();
      this.#room.settle(put.amount);
    }
  };

  /** A take that gets nothing looks again: what it needs has to be read. */
  #serveWaiting(): void {
    for (let take = this.#takes.first; take !== undefined; take = this.#takes.first) {
      const events = this.#supply.shift(take.max);
      if (events.length === 0 && !this.#supply.unread) return;
      take.settle(events);
    }
  }
}
