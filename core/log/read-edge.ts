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

/** The place of an event in a part of a log. */
export type Place = Pick<Origin, "offset" | "index">;

/** For each part of a log that events came from, the last of them. */
export type Origins = LogPosition["origins"];

/** The place of one event or the last of some, how many events there are up to it, and where those came from that did not come before. */
interface Step extends Pick<LogPosition, "offset" | "index" | "events"> {
  readonly origin?: Origin | undefined;
  readonly origins?: Origins | undefined;
}

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

/** An event that was read for the first time. Everything is in one object: many of them wait. */
export interface ReadEvent extends QueuedPartEvent, Step {
  events: number;
  readonly origin: Origin | undefined;
  /** Repeated: it came from its log before. */
  state: "waiting" | "taken" | "repeated";
}

/** The end of what was read of a part: which events of a record are new, and where the part stands behind each of them. */
export class ReadEdge {
  readonly #part: number;
  readonly #before: number;
  readonly #writers: WriterGaps;
  readonly #gapless: boolean;
  #at: Omit<Passed, "origins">;
  /** For each part of a log that the events came from, the last of them. */
  #origins: Map<string, Place>;
  #next: number;
  #repeated = 0;
  /** What was before this offset was gone when nothing was known to be done, and up to where it became known since; -1: nothing did. */
  #gone = 0;
  #known = -1;
  #isWhole = true;
  /** The offset of the first record that was read, or where there was none, the one with which the next one begins. */
  #first: number | undefined;

  /**
   * Nothing at or before `from` is new. Records before the offset `before` may have been delivered by others. Where the log is
   * `gapless` an offset that is missing is a record that is lost.
   */
  constructor(part: number, from: Passed, before: number, gapless = false) {
    this.#part = part;
    this.#before = before;
    this.#gapless = gapless;
    this.#known = from.offset;
    this.#at = from;
    this.#origins = new Map(from.origins);
    this.#writers = new WriterGaps(from.offset, gapless);
    // The rest of that record, if there is one, is still to be read.
    this.#next = Math.max(0, from.offset);
  }

  get at(): Omit<Passed, "origins"> {
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

  /** Events that are missing, at least: of records of which only the number is known, one for each. */
  get lost(): number {
    const goneUnstored = this.#gapless && this.#known >= 0 ? Math.max(0, this.#gone - this.#known - 1) : 0;
    return this.#writers.lost + goneUnstored;
  }

  /** Whether all events that others may have counted were read, as far as is known. */
  get isWhole(): boolean {
    return this.#isWhole && !this.#writers.hadGaps;
  }

  /** Whether the last record of what was done before is gone, where offsets jump and do not tell: the agents keep it. */
  get isCut(): boolean {
    return !this.#gapless && this.#known >= 0 && this.#first !== undefined && this.#first > this.#known;
  }

  /** Whether nothing is known to be done, and the record with this offset is gone. */
  isGone(offset: number): boolean {
    return this.#known < 0 && this.#first !== undefined && this.#first > offset;
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
    this.#first ??= next;
    if (this.#at.offset < 0) this.#noteGone(next);
    else this.#noteMissing(next);
    this.#next = next;
  }

  /** What is up to this place is done, as became known now; there may be several such places. */
  noteDone({ offset }: Pick<Passed, "offset">): void {
    this.#known = Math.max(this.#known, offset);
    this.#writers.passTo(offset);
  }

  /** What was read from this offset on, which is behind what is done, is read again; `at` is up to where the rest goes. */
  goBackTo(offset: number, at: Passed): void {
    this.#at = at;
    this.#origins = new Map(at.origins);
    this.#next = offset;
    this.#writers.goBackTo(offset);
  }

  /** What is missing up to this place is not lost. */
  noteStored({ offset }: Pick<Passed, "offset">): void {
    this.#writers.stored(offset);
  }

  /** There are that many events more before all that was read and is not done. */
  counted(more: number): void {
    this.#at = { ...this.#at, events: this.#at.events + more };
  }

  /** What is up to this position need not be read. */
  moveTo(position: Passed): void {
    this.#at = position;
    this.#origins = new Map(position.origins);
    this.#next = Math.max(this.#next, position.offset);
    this.#writers.passTo(position.offset);
  }

  /** The new events of a record; `done` is up to where the part is done, and no record up to the offset `final` is read again. */
  read(record: ReadRecord, done: Passed, final = done.offset): readonly ReadEvent[] {
    if (record.offset < this.#next) return [];
    this.#first ??= record.offset;
    this.#noteMissing(record.offset);
    this.#next = record.offset + 1;
    // What was left of a record that is done in part looks like a repetition.
    if (this.#writers.isNew(record, final) || record.offset === done.offset) return this.#eventsOf(record);
    this.#repeated += record.events.length;
    return [];
  }

  #noteGone(offset: number): void {
    this.#gone = offset;
    // Elsewhere offsets jump where nothing is gone.
    this.#isWhole = !this.#gapless;
  }

  /** `first` is the offset of the first record from the edge on; one that is done may be gone. */
  #noteMissing(first: number): void {
    const next = Math.max(this.#next, this.#at.offset + 1);
    const isBegun = this.#next > 0 || this.#at.offset >= 0;
    if (this.#gapless && isBegun && first > next) this.#writers.missing(first, first - next);
  }

  #eventsOf({ offset, events, at, bytes }: ReadRecord): readonly ReadEvent[] {
    // Whole bytes: sums of fractions would not come back to 0.
    const each = Math.ceil(bytes / Math.max(1, events.length));
    const redelivered = offset < this.#before;
    const read: ReadEvent[] = [];
    let count = this.#at.events;
    for (let index = offset === this.#at.offset ? this.#at.index + 1 : 0; index < events.length; index += 1) {
      const unpacked = events[index];
      if (unpacked === undefined) break;
      const { event, origin } = unpacked;
      const isRepeated = origin !== undefined && this.#isRepeated(origin);
      // What came before is no event of the log: the number of events does not rise.
      if (!isRepeated) count += 1;
      read.push({
        part: this.#part,
        offset,
        index,
        event,
        bytes: each,
        at,
        redelivered,
        events: count,
        origin: isRepeated ? undefined : origin,
        state: isRepeated ? "repeated" : "waiting",
      });
    }
    if (read.length > 0) this.#at = { offset, index: events.length - 1, events: count };
    return read;
  }

  /** Whether an event came from its log before; from now on, it has. */
  #isRepeated(origin: Origin): boolean {
    const known = this.#origins.get(origin.of);
    const isRepeated = known !== undefined && isUpTo(origin, known);
    if (isRepeated) this.#repeated += 1;
    else this.#origins.set(origin.of, origin);
    return isRepeated;
  }
}

/** Where the part stands behind these steps. What each of thousands of them came behind is not kept with it: there may be many origins. */
export function behind(at: Passed, steps: readonly Step[]): Passed {
  const last = steps.at(-1);
  if (last === undefined) return at;
  const { offset, index, events } = last;
  // Most events come from no other log.
  if (steps.every(({ origin, origins }) => origin === undefined && origins === undefined))
    return { offset, index, events, origins: at.origins };
  const all = new Map(at.origins);
  for (const { origin, origins } of steps) {
    if (origin !== undefined) all.set(origin.of, { offset: origin.offset, index: origin.index });
    for (const [of, place] of origins ?? []) all.set(of, place);
  }
  return { offset, index, events, origins: all };
}
