import { AgentError, codeOf, reasonOf } from "../sdk/index.js";
import { isOfRecord } from "./log-health.js";
import { LoggedPut } from "./logged-put.js";
import type { PackedEvent } from "./packed-record.js";
import type { PutDelay } from "./put-delay.js";

/** What an appender needs of its log. */
interface PartAppenderParts {
  /** The most bytes of events in one record, unless one event alone has more, or the engine takes less. */
  readonly recordBytes: number;
  /** The same one for all parts. */
  readonly delay: PutDelay;
  append(events: readonly PackedEvent[], repeating: Repeating): Promise<void>;
}

/** What an append that is repeated asks and tells. */
export interface Repeating {
  /** True when something that was put together with some of it is in the log, or may be; what became of itself is not meant. */
  isHalfPut(): boolean;
  /** A try has failed, and there will be another one; `mayBeThere`: nobody knows whether the record is in the log. */
  again(error: unknown, mayBeThere: boolean): void;
}

interface Pending {
  readonly put: LoggedPut;
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

  /**
   * Calls `settle` when all of them are in the log; with an error, the first of them may be there. `put` is given for what goes to
   * several parts.
   */
  add(events: readonly PackedEvent[], settle: (error?: unknown) => void, put = new LoggedPut()): void {
    this.#pending.push({ put, events, done: 0, settle });
    this.#parts.delay.noted();
    if (!this.#isRunning) void this.#run();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    for (;;) {
      await this.#parts.delay.elapsed();
      if (this.#pending.some(({ put }) => put.refusal !== undefined))
        this.#refuseIf(0, ({ refusal }) => refusal?.error);
      if (this.#pending.length === 0) break;
      await this.#append(this.#next());
    }
    this.#isRunning = false;
  }

  async #append(chunk: Chunk): Promise<void> {
    const { events, whole, left, puts } = chunk;
    const own = this.#pending.slice(0, puts).map(({ put }) => put);
    let waited = this.#pending.length;
    let isLogged = false;
    const log = () => {
      if (!isLogged) for (const put of own) put.logs();
      isLogged = true;
    };
    const again = (error: unknown, mayBeThere: boolean) => {
      if (mayBeThere) log();
      this.#refuseWaiting(puts, error);
      waited = this.#pending.length;
    };
    for (const put of own) put.begins();
    try {
      await this.#parts.append(events, { isHalfPut: () => !isLogged && own.some((put) => put.isLogged), again });
      log();
      for (const { settle } of this.#pending.splice(0, whole)) settle();
      const [first] = this.#pending;
      if (first !== undefined) first.done = left;
    } catch (error) {
      if (!isLogged) for (const put of own) put.fails();
      this.#fail(chunk, { waited, isLogged }, error);
    }
  }

  #fail(
    { events, bytes, puts }: Chunk,
    { waited, isLogged }: { readonly waited: number; readonly isLogged: boolean },
    error: unknown,
  ): void {
    // The engine takes less than it said, or nobody could ask it: what was put is not to blame for being packed together.
    if (isOfRecord(error) && events.length > 1 && !isLogged) this.#recordBytes = bytes / 2;
    else this.#refuse({ puts, waited: isOfRecord(error) ? puts : waited }, error);
  }

  /** What waited while the log did not answer is refused together: it would wait as long again for each record before it. */
  #refuse({ puts, waited }: { readonly puts: number; readonly waited: number }, error: unknown): void {
    const behind = ofWaiting(error);
    for (const [index, pending] of this.#pending.splice(0, waited).entries())
      refuse(pending, index < puts ? error : behind);
  }

  /** What stands behind these puts waits no longer, unless some of it is in the log or on its way. */
  #refuseWaiting(puts: number, error: unknown): void {
    const reason = ofWaiting(error);
    this.#refuseIf(puts, ({ refusal, isBegun }) => refusal?.error ?? (isBegun ? undefined : reason));
  }

  /** Refuses those from this one on for which there is an error. */
  #refuseIf(from: number, errorFor: (put: LoggedPut) => unknown): void {
    for (const pending of this.#pending.splice(from)) {
      const error = errorFor(pending.put);
      if (error === undefined) this.#pending.push(pending);
      else refuse(pending, error);
    }
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

function refuse({ put, settle }: Pending, error: unknown): void {
  put.refuse(error);
  settle(error);
}

/** What waits behind a record of which nobody knows whether it is in the log is not there itself. */
function ofWaiting(error: unknown): unknown {
  if (codeOf(error) !== "LOG_UNANSWERED") return error;
  const message = `waiting for what was put before: ${reasonOf(error)}`;
  return new AgentError("LOG_UNAVAILABLE", message, { retryable: true, cause: error });
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
