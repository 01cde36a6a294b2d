import { isOfRecord } from "./log-connection.js";
import type { PackedEvent } from "./packed-record.js";

/** What an appender needs of its log. */
export interface PartAppenderParts {
  /** The most bytes of events in one record, unless one event alone has more, or the engine takes less. */
  readonly recordBytes: number;
  append(events: readonly PackedEvent[]): Promise<void>;
}

interface Pending {
  readonly events: readonly PackedEvent[];
  /** How many of them are in records that were appended. */
  done: number;
  settle(error?: unknown): void;
}

/**
 * Appends to one part of a log: one record at a time, and what is put meanwhile goes into the next one together. Events
 * keep the order in which they were put.
 */
export class PartAppender {
  readonly #parts: PartAppenderParts;
  readonly #pending: Pending[] = [];
  #recordBytes: number;
  #isRunning = false;

  constructor(parts: PartAppenderParts) {
    this.#parts = parts;
    this.#recordBytes = parts.recordBytes;
  }

  /** Calls `settle` when all of them are in the log; with an error, the first of them may be there. */
  add(events: readonly PackedEvent[], settle: (error?: unknown) => void): void {
    this.#pending.push({ events, done: 0, settle });
    if (!this.#isRunning) void this.#run();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    // Puts of the same moment share the first record.
    await Promise.resolve();
    while (this.#pending.length > 0) await this.#append(this.#next());
    this.#isRunning = false;
  }

  async #append({ events, bytes, whole, left, puts }: Chunk): Promise<void> {
    const waited = this.#pending.length;
    try {
      await this.#parts.append(events);
      for (const { settle } of this.#pending.splice(0, whole)) settle();
      const [first] = this.#pending;
      if (first !== undefined) first.done = left;
    } catch (error) {
      // The engine takes less than it said, or nobody could ask it: what was put is not to blame for being packed together.
      if (isOfRecord(error) && events.length > 1) this.#recordBytes = bytes / 2;
      else this.#refuse(isOfRecord(error) ? puts : waited, error);
    }
  }

  /** What waited while the log did not answer is refused together: it would wait as long again for each record before it. */
  #refuse(puts: number, error: unknown): void {
    for (const { settle } of this.#pending.splice(0, puts)) settle(error);
  }

  /** What fits into one record, at least one event. */
  #next(): Chunk {
    const events: PackedEvent[] = [];
    let bytes = 0;
    let whole = 0;
    for (const put of this.#pending) {
      for (let at = put.done; at < put.events.length; at += 1) {
        const event = put.events[at];
        if (event === undefined || (bytes > 0 && bytes + event.bytes > this.#recordBytes))
          return { events, bytes, whole, left: at, puts: at > put.done ? whole + 1 : whole };
        bytes += event.bytes;
        events.push(event);
      }
      whole += 1;
    }
    return { events, bytes, whole, left: 0, puts: whole };
  }
}

/** What goes into one record, and of which puts. */
interface Chunk {
  readonly events: readonly PackedEvent[];
  readonly bytes: number;
  /** How many puts end with it. */
  readonly whole: number;
  /** How many events of the put behind these are in it, or in records before. */
  readonly left: number;
  /** How many puts have something in it. */
  readonly puts: number;
}
