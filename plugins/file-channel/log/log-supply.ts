import { type QueuedEvent, SequenceRing } from "deneb/sdk/channel";
import type { WrittenGroup } from "./appender.js";
import type { DoneRanges } from "./done-ranges.js";
import type { LogReader, ReadStep } from "./log-reader.js";
import type { Supply } from "./supply.js";

/** Events that were just written are handed on without reading them back while no more than this waits in memory. */
export const WINDOW_BYTES = 8 * 1024 * 1024;

/** The part of a log that is read ahead. */
interface ReadLog {
  readonly reader: LogReader;
  readonly state: { readonly done: DoneRanges };
  read(): Promise<ReadStep>;
}

/** First in, first out: reads the log ahead. */
export class LogSupply implements Supply {
  readonly #log: ReadLog;
  readonly #ready: ReadyWindow;
  #reading: Promise<void> | undefined;

  /** `mostBytes`: bytes of events, as they are on disk, that are handed out at a time, about. */
  constructor(log: ReadLog, mostBytes: number) {
    this.#log = log;
    this.#ready = new ReadyWindow(mostBytes);
  }

  claim(): () => void {
    return nothingToDo;
  }

  largestServices(): undefined {}

  async open(): Promise<void> {}

  get unread(): boolean {
    return this.#ready.length === 0 && this.#log.reader.unread;
  }

  get isBehind(): boolean {
    return this.#reading !== undefined || this.#log.reader.unread;
  }

  shift(max: number): readonly QueuedEvent[] {
    return this.#ready.shift(max);
  }

  async read(): Promise<readonly QueuedEvent[]> {
    this.#reading ??= this.#readOnce().finally(() => {
      this.#reading = undefined;
    });
    await this.#reading;
    return [];
  }

  written({ events, segment, bytes }: WrittenGroup): boolean {
    if (this.#reading !== undefined || this.#ready.bytes > WINDOW_BYTES) return false;
    if (!this.#log.reader.isAt(segment, segment.end - bytes)) return false;
    this.#log.reader.passOver(segment);
    this.#ready.push(events, bytes);
    return true;
  }

  remember(events: readonly QueuedEvent[]): void {
    this.#ready.push(events, 0);
  }

  release(): void {}

  restore(taken: readonly QueuedEvent[]): void {
    this.#ready.restore(taken);
  }

  async drop(): Promise<readonly number[]> {
    return this.#ready.drop(this.#log.state.done).map(({ sequence }) => sequence);
  }

  async idle(): Promise<void> {
    await Promise.allSettled([this.#reading]);
  }

  async #readOnce(): Promise<void> {
    const step = await this.#log.read();
    this.#ready.push(step.events, step.bytes);
  }
}

function nothingToDo(): void {}

/** The events that are taken next, in memory, and about how many bytes they are. */
class ReadyWindow {
  readonly #ring = new SequenceRing();
  readonly #mostBytes: number;
  #bytes = 0;

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  get length(): number {
    return this.#ring.length;
  }

  /** An estimate: the bytes of what was pushed, less the share of what was taken. */
  get bytes(): number {
    return this.#bytes;
  }

  push(events: readonly QueuedEvent[], bytes: number): void {
    this.#ring.push(events);
    this.#bytes += bytes;
  }

  /** Fewer than `max` where they are large, and one at least. */
  shift(max: number): readonly QueuedEvent[] {
    const before = this.#ring.length;
    const ofThisSize = this.#bytes <= this.#mostBytes ? max : Math.floor((before * this.#mostBytes) / this.#bytes);
    return this.#shift(Math.min(max, Math.max(1, ofThisSize)));
  }

  #shift(max: number): readonly QueuedEvent[] {
    const before = this.#ring.length;
    const events = this.#ring.shift(max);
    this.#bytes *= this.#ring.length / Math.max(before, 1);
    return events;
  }

  restore(events: readonly QueuedEvent[]): void {
    const before = this.#ring.length;
    this.#ring.restore(events);
    if (before > 0) this.#bytes *= this.#ring.length / before;
  }

  /** Removes and returns what is done. */
  drop(done: DoneRanges): readonly QueuedEvent[] {
    const bytes = this.#bytes;
    const events = this.#shift(this.#ring.length);
    const isDone = ({ sequence }: QueuedEvent) => done.has(sequence);
    this.push(
      events.filter((event) => !isDone(event)),
      bytes,
    );
    return events.filter(isDone);
  }
}
