import { type Event, type Logger, reasonOf, type Waiting } from "deneb/sdk";
import {
  type Amount,
  type ChannelLimits,
  channelStopped,
  type EventQueue,
  type QueuedEvent,
  type QueuePositions,
  type Reservation,
  Room,
  WaitingTakes,
} from "deneb/sdk/channel";
import { type LogPut, logPut, type Written } from "./log/appender.js";
import { EventLog, type LogSettings } from "./log/event-log.js";
import { ReadyWindow } from "./log/log-reader.js";
import { storedBytes } from "./log/records.js";

/** Events that were just written are handed on without reading them back while no more than this waits in memory. */
const WINDOW_BYTES = 8 * 1024 * 1024;

export interface QueueLimits extends ChannelLimits {
  /** Events kept in memory alone; further ones go to disk. */
  readonly memoryCapacity: number;
}

/** First in, first out over a log on disk; only what is about to be taken is in memory. */
export class LogQueue implements EventQueue {
  readonly #limits: QueueLimits;
  readonly #log: Logger;
  readonly #events: EventLog;
  readonly #room: Room;
  readonly #ready = new ReadyWindow();
  readonly #takes = new WaitingTakes();
  /** Events that are in memory alone, by sequence number. */
  readonly #unsaved = new Map<number, Event>();
  /** Puts that are being written. */
  #appending = 0;
  #reading: Promise<void> | undefined;
  #closed = false;

  constructor(limits: QueueLimits, settings: LogSettings, log: Logger) {
    this.#limits = limits;
    this.#log = log;
    this.#events = new EventLog(settings, log, this.#written);
    this.#room = new Room(limits, () => ({ events: this.size, bytes: this.#events.usedBytes }));
  }

  get bytes(): number {
    return this.#events.usedBytes;
  }

  get size(): number {
    return this.#events.size;
  }

  get lost(): number {
    return this.#events.lost;
  }

  async open(): Promise<void> {
    await this.#events.open();
    const { id, done } = this.#events.state;
    this.#log.info({ channel: id, waiting: this.size, position: done.low }, "channel opened");
  }

  async add(events: readonly Event[]): Promise<void> {
    if (this.#closed) throw channelStopped(this.#limits.channel);
    if (this.#addInMemory(events)) return;
    const put = logPut(events);
    const amount = amountOf(put);
    await this.#room.enter(amount);
    await this.#append(put, amount);
  }

  async reserve(events: readonly Event[], waiting: Waiting): Promise<Reservation> {
    if (this.#closed) throw channelStopped(this.#limits.channel);
    const put = logPut(events);
    const amount = amountOf(put);
    await this.#room.enter(amount, waiting);
    return {
      add: async () => {
        if (!this.#closed && this.#fitsInMemory(events)) {
          this.#remember(events);
          this.#room.settle(amount);
        } else await this.#append(put, amount);
      },
      release: () => this.#room.settle(amount),
    };
  }

  async take(max: number, signal: AbortSignal): Promise<readonly QueuedEvent[]> {
    const taken = await this.#taken(max, signal);
    if (taken.length > 0) await this.#events.claimRun();
    return taken;
  }

  async #taken(max: number, signal: AbortSignal): Promise<readonly QueuedEvent[]> {
    while (this.#ready.length === 0 && this.#events.reader.unread && !this.#closed) await this.#read();
    if (this.#closed) return [];
    if (this.#ready.length > 0) return this.#ready.shift(max);
    return signal.aborted ? [] : this.#takes.wait(max, signal);
  }

  async release(taken: readonly QueuedEvent[]): Promise<void> {
    if (this.#closed) throw channelStopped(this.#limits.channel);
    this.#events.complete(taken);
    this.#room.admitWaiting();
    const saved = taken.filter(({ sequence }) => !this.#unsaved.delete(sequence));
    if (saved.length > 0) await this.#events.saveDone();
    this.#room.admitWaiting();
  }

  restore(taken: readonly QueuedEvent[]): void {
    this.#ready.restore(taken);
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
    await this.#reading;
    const skipped = await finish();
    for (const { sequence } of this.#ready.drop(this.#events.state.done)) this.#unsaved.delete(sequence);
    this.#room.admitWaiting();
    return skipped;
  }

  /** Ends all waiting; events in memory alone are written to disk. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#room.close();
    this.#takes.releaseAll();
    await this.#events.settled();
    await Promise.allSettled([this.#reading]);
    await this.#saveMemory();
    await this.#events.close();
  }

  #addInMemory(events: readonly Event[]): boolean {
    const amount = { events: events.length, bytes: 0 };
    if (!this.#fitsInMemory(events) || !this.#room.tryEnter(amount)) return false;
    this.#remember(events);
    this.#room.settle(amount);
    return true;
  }

  /** In memory alone only while nothing on disk, or on its way there, would have to come first. */
  #fitsInMemory(events: readonly Event[]): boolean {
    const fits = this.#unsaved.size + events.length <= this.#limits.memoryCapacity;
    if (!fits || !this.#events.appender.hasNumbersFor(events.length)) return false;
    return this.#appending === 0 && this.#reading === undefined && !this.#events.reader.unread;
  }

  /** Writes a put that has its room. */
  async #append(put: LogPut, amount: Amount): Promise<void> {
    this.#appending += 1;
    try {
      if (this.#closed) throw channelStopped(this.#limits.channel);
      await this.#events.appender.append(put);
    } finally {
      this.#appending -= 1;
      this.#room.settle(amount);
    }
  }

  #remember(events: readonly Event[]): void {
    const numbered = this.#events.appender.number(events);
    for (const { sequence, event } of numbered) this.#unsaved.set(sequence, event);
    this.#ready.push(numbered, 0);
    this.#serveWaiting();
  }

  readonly #written: Written = ({ events, segment, bytes }) => {
    if (this.#reading !== undefined || this.#ready.bytes > WINDOW_BYTES) return;
    if (!this.#events.reader.isAt(segment, segment.end - bytes)) return;
    this.#events.reader.passOver(segment);
    this.#ready.push(events, bytes);
    this.#serveWaiting();
  };

  async #read(): Promise<void> {
    this.#reading ??= this.#readOnce().finally(() => {
      this.#reading = undefined;
    });
    await this.#reading;
  }

  async #readOnce(): Promise<void> {
    const step = await this.#events.read();
    this.#ready.push(step.events, step.bytes);
    this.#serveWaiting();
  }

  #serveWaiting(): void {
    for (let take = this.#takes.first; take !== undefined && this.#ready.length > 0; take = this.#takes.first) {
      take.settle(this.#ready.shift(take.max));
    }
  }

  async #saveMemory(): Promise<void> {
    const events = [...this.#unsaved].map(([sequence, event]) => ({ sequence, event }));
    if (events.length === 0) return;
    try {
      await this.#events.appender.insert(events.sort((one, other) => one.sequence - other.sequence));
      this.#log.info({ events: events.length }, "events in memory written to disk");
    } catch (error) {
      this.#log.error(
        { events: events.length, reason: reasonOf(error) },
        "events in memory lost: they cannot be written",
      );
    }
  }
}

function amountOf(put: LogPut): Amount {
  return { events: put.texts.length, bytes: storedBytes(put) };
}
