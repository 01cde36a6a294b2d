import type { Event } from "../sdk/index.js";
import { isUpTo, type LogPosition } from "./log-position.js";
import type { Origin, Unpacked } from "./packed-record.js";
import { type Lacking, WriterGaps } from "./writer-gaps.js";

/** An event of a part that was read and is not done. */
export interface QueuedPartEvent {
  readonly part: number;
  readonly offset: number;
  readonly index: number;
  readonly event: Event;
  readonly bytes: number;
  /** Milliseconds since 1970 at which it was put. */
  readonly at: number;
  /** True when somebody may have had it before this queue. */
  readonly redelivered: boolean;
}

/** A place in a part, and what came before it. */
export type Passed = Pick<LogPosition, "offset" | "index" | "events" | "origins">;

/** A record as it was read, and what it takes in memory. */
export interface ReadRecord extends Unpacked {
  readonly offset: number;
  readonly bytes: number;
}

/** Records in order, and the offset from which they were read: between it and the first of them there is none. */
export interface ReadRecords {
  readonly from: number;
  readonly records: readonly ReadRecord[];
}

/** An event that was read for the first time. */
export interface ReadEvent {
  readonly queued: QueuedPartEvent;
  /** Up to where the part is done once this and all before it are. */
  readonly after: Passed;
  /** It came from its log before. */
  readonly isRepeated: boolean;
}

/** The end of what was read of a part: which events of a record are new, and where the part stands behind each of them. */
export class ReadEdge {
  readonly #part: number;
  readonly #before: number;
  readonly #writers: WriterGaps;
  readonly #gapless: boolean;
  #at: Passed;
  #next: number;
  #repeated = 0;
  /** Records whose offsets are missing. */
  #missing = 0;
  /** What was before this offset was gone when nothing was known to be done, and up to where it became known since; -1: nothing did. */
  #gone = 0;
  #known = -1;

  /**
   * Nothing at or before `from` is new. Records before the offset `before` may have been delivered by others. Where the log is
   * `gapless` an offset that is missing is a record that is lost.
   */
  constructor(part: number, from: Passed, before: number, gapless = false) {
    this.#part = part;
    this.#before = before;
    this.#gapless = gapless;
    this.#at = from;
    this.#writers = new WriterGaps(from.offset);
    // The rest of that record, if there is one, is still to be read.
    this.#next = Math.max(0, from.offset);
  }

  get at(): Passed {
    return this.#at;
  }

  /** The offset from which to read on. */
  get next(): number {
    return this.#next;
  }

  /** Events that were left out because they came from their log before. */
  get repeated(): number {
    return this.#repeated;
  }

  /** Events of records that are missing between others of the same writer; where that is not known, records. */
  get lost(): number {
    const goneUnstored = this.#gapless && this.#known >= 0 ? Math.max(0, this.#gone - this.#known - 1) : 0;
    return Math.max(this.#writers.lost, this.#missing + goneUnstored);
  }

  /** Whether it is known up to where the part was done before. */
  get isBegun(): boolean {
    return this.#writers.isBegun;
  }

  /**
   * What was to be read before one of these; undefined when nothing is known of it. Where the log is gapless the offsets tell.
   */
  lacking(records: readonly ReadRecord[]): Lacking | undefined {
    return this.#gapless ? undefined : this.#writers.lacking(records, this.#next);
  }

  /** What is before this offset is gone. */
  skip(next: number): void {
    if (next <= this.#next) return;
    if (this.#at.offset < 0) this.#gone = next;
    else this.#noteMissing(next);
    this.#next = next;
  }

  /** What is up to this place is done, as became known now; there may be several such places. */
  noteDone({ offset }: Pick<Passed, "offset">): void {
    this.#known = Math.max(this.#known, offset);
    this.#writers.passTo(offset);
  }

  /** What is up to this position need not be read. */
  moveTo(position: Passed): void {
    this.#at = position;
    this.#next = Math.max(this.#next, position.offset);
    this.#writers.passTo(position.offset);
  }

  /** The new events of a record; `done` is up to where the part is done. */
  read(record: ReadRecord, done: Passed): readonly ReadEvent[] {
    if (record.offset < this.#next) return [];
    this.#noteMissing(record.offset);
    this.#next = record.offset + 1;
    // What was left of a record that is done in part looks like a repetition.
    if (this.#writers.isNew(record) || record.offset === done.offset) return this.#eventsOf(record);
    this.#repeated += record.events.length;
    return [];
  }

  /** `first` is the offset of the first record from the edge on; one that is done may be gone. */
  #noteMissing(first: number): void {
    const next = Math.max(this.#next, this.#at.offset + 1);
    const isBegun = this.#next > 0 || this.#at.offset >= 0;
    if (this.#gapless && isBegun && first > next) this.#missing += first - next;
  }

  #eventsOf({ offset, events, at, bytes }: ReadRecord): readonly ReadEvent[] {
    const each = bytes / Math.max(1, events.length);
    const redelivered = offset < this.#before;
    const read: ReadEvent[] = [];
    events.forEach(({ event, origin }, index) => {
      if (isUpTo({ offset, index }, this.#at)) return;
      const queued = { part: this.#part, offset, index, event, bytes: each, at, redelivered };
      read.push(this.#event(queued, origin));
    });
    return read;
  }

  #event(queued: QueuedPartEvent, origin: Origin | undefined): ReadEvent {
    const { offset, index } = queued;
    const { events, origins } = this.#at;
    const known = origin === undefined ? undefined : origins.get(origin.of);
    const isRepeated = origin !== undefined && known !== undefined && isUpTo(origin, known);
    // What came before is no event of the log: the number of events does not rise.
    const passed = isRepeated ? { events, origins } : { events: events + 1, origins: withOrigin(origins, origin) };
    if (isRepeated) this.#repeated += 1;
    this.#at = { offset, index, ...passed };
    return { queued, after: this.#at, isRepeated };
  }
}

function withOrigin(origins: LogPosition["origins"], origin: Origin | undefined): LogPosition["origins"] {
  if (origin === undefined) return origins;
  return new Map(origins).set(origin.of, { offset: origin.offset, index: origin.index });
}
