import type { PackedEvent } from "./packed-record.js";
import type { Appended } from "./partitioned-log.js";

/** What an appender needs of its log. */
export interface PartAppenderParts {
  /** The most bytes of events in one record, unless one event alone has more. */
  readonly recordBytes: number;
  append(events: readonly PackedEvent[]): Promise<Appended>;
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
  #isRunning = false;

  constructor(parts: PartAppenderParts) {
    this.#parts = parts;
  }

  /** True while nothing is on its way. */
  get isIdle(): boolean {
    return !this.#isRunning;
  }

  /** Resolves when all of them are in the log; when it rejects, the first of them may be there. */
  add(events: readonly PackedEvent[]): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (error?: unknown) => (error === undefined ? resolve() : reject(error));
      this.#pending.push({ events, done: 0, settle });
      if (!this.#isRunning) void this.#run();
    });
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    // Puts of the same moment share the first record.
    await Promise.resolve();
    for (let next = this.#next(); next.length > 0; next = this.#next()) await this.#append(next);
    this.#isRunning = false;
  }

  async #append(chunks: readonly Chunk[]): Promise<void> {
    try {
      await this.#parts.append(chunks.flatMap(({ events }) => events));
      for (const { of, events } of chunks) {
        of.done += events.length;
        if (of.done === of.events.length) this.#end(of);
      }
    } catch (error) {
      for (const { of } of chunks) this.#end(of, error);
    }
  }

  #end(pending: Pending, error?: unknown): void {
    this.#pending.splice(this.#pending.indexOf(pending), 1);
    pending.settle(error);
  }

  /** What fits into one record, at least one event. */
  #next(): readonly Chunk[] {
    const chunks: Chunk[] = [];
    let bytes = 0;
    for (const of of this.#pending) {
      const events: PackedEvent[] = [];
      for (let at = of.done; at < of.events.length; at += 1) {
        const event = of.events[at];
        if (event === undefined || (bytes > 0 && bytes + event.bytes > this.#parts.recordBytes)) break;
        bytes += event.bytes;
        events.push(event);
      }
      if (events.length > 0) chunks.push({ of, events });
      if (of.done + events.length < of.events.length) break;
    }
    return chunks;
  }
}

/** The part of a put that goes into one record. */
interface Chunk {
  readonly of: Pending;
  readonly events: readonly PackedEvent[];
}
