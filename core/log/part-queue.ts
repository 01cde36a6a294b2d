import type { Event, SettledEvents } from "../sdk/index.js";
import { isUpTo, type LogPosition, later } from "./log-position.js";
import { type Book, bookOf, PartBooks } from "./part-books.js";
import { among, PartEntries } from "./part-entries.js";
import { countsOf } from "./passed-run.js";
import { behind, type Passed, type QueuedPartEvent, ReadEdge, type ReadEvent, type ReadRecords } from "./read-edge.js";
import type { Lacking } from "./writer-gaps.js";

/** What became of an event that is settled. */
export type OutcomeOf = (event: Event) => keyof SettledEvents | undefined;

/** What is known of events before they are taken. */
export interface KnownOfEvents {
  /** Whether the event at this place has a dead letter. */
  hasLetter?(place: Pick<QueuedPartEvent, "offset" | "index">): boolean;
  /** Whether the event is for another group alone. */
  isOfOthers?(event: Event): boolean;
}
/**
 * What one agent has read of one part and what of it is done. Takes get the oldest events that wait; the position moves over
 * what is done without a gap.
 */
export class PartQueue {
  readonly part: number;
  /** From the first one that is not done. */
  readonly #entries: PartEntries;
  readonly #books: PartBooks;
  readonly #edge: ReadEdge;
  /** A position that others have stored, while events up to it are not done here. */
  #counted: LogPosition | undefined;

  /**
   * `from`: what is done already; nothing at or before it is handed out. Records before the offset `before` may have been
   * delivered by others. Where the log is `gapless` an offset that is missing is a record that is lost.
   */
  constructor(part: number, from: LogPosition, before: number, gapless = false) {
    this.part = part;
    this.#books = new PartBooks(from);
    this.#edge = new ReadEdge(part, from, before, gapless);
    this.#entries = new PartEntries(() => this.#edge.isWhole);
  }

  /** The offset from which to read on. */
  get next(): number {
    return this.#edge.next;
  }

  get done(): LogPosition {
    return this.#books.position;
  }

  /** Events that were read and are not done. */
  get size(): number {
    return this.#edge.at.events - this.#done.events;
  }

  get waiting(): number {
    return this.#entries.waiting;
  }

  /** Bytes of what was read and is not done. */
  get bytes(): number {
    return this.#entries.bytes;
  }

  /** Events that were left out because they came from their log before. */
  get repeated(): number {
    return this.#edge.repeated;
  }

  /** Events that are missing, at least: of records of which only the number is known, one for each. */
  get lost(): number {
    return this.#edge.lost;
  }

  /** Whether the last record of what was done before is gone, so that nobody knows what else is. */
  get isCut(): boolean {
    return this.#edge.isCut;
  }

  /** Whether nothing is known to be done, and the record with this offset is gone. */
  isGone(offset: number): boolean {
    return this.#edge.isGone(offset);
  }

  /** When the oldest event that is not done was put. */
  get oldest(): number | undefined {
    return this.#entries.all[0]?.at;
  }

  /** Whether all records before this offset were read. */
  follows(offset: number): boolean {
    return offset <= this.next;
  }

  /** Whether it is known up to where the part was done before. */
  get isBegun(): boolean {
    return this.#edge.isBegun;
  }

  /**
   * What was to be read before one of these; undefined when nothing is known of it, and when more than that is done already, so
   * that it cannot be stored any more.
   */
  lacking({ records }: ReadRecords): Lacking | undefined {
    const lacking = this.#edge.lacking(records);
    return lacking !== undefined && lacking.offset > this.#done.offset ? lacking : undefined;
  }

  /**
   * Records that were read, in order; what was added before is left out, and so are all of them when some before them were not
   * read.
   */
  add({ from, records }: ReadRecords, known: KnownOfEvents = {}): void {
    if (!this.follows(from)) return;
    const final = Math.max(this.#done.offset, this.#entries.passedTo);
    for (const record of records)
      for (const read of this.#edge.read(record, this.#done, final)) this.#push(read, known);
    this.#settle();
  }

  /**
   * What was read from this offset on, which is behind what is done, is discarded, to be read again; false where a take has some of it, or
   * where some is done.
   */
  goBackTo(offset: number): boolean {
    if (!this.#entries.goBackTo(offset)) return false;
    this.#edge.goBackTo(offset, behind(this.#done, this.#entries.all));
    return true;
  }

  /** What is before this offset is gone: reading goes on with it. */
  skip(next: number): void {
    this.#edge.skip(next);
  }

  take(max: number): readonly QueuedPartEvent[] {
    return this.#entries.take(max);
  }

  restore(events: readonly QueuedPartEvent[]): void {
    this.#entries.restore(events);
  }

  /** `settled` says what became of them; absent: they are stored. */
  release(events: readonly QueuedPartEvent[], settled?: SettledEvents): void {
    const others = settled === undefined ? [] : notStored(settled);
    this.#entries.finish(events, () => others.pop() ?? "stored");
    this.#settle();
  }

  /** What of a take is done although older events of it are not: it is not handed out again, and needs no memory. */
  leave(events: readonly QueuedPartEvent[], outcome: keyof SettledEvents): void {
    this.#entries.finish(events, () => bookOf(outcome));
    this.#settle();
  }

  /**
   * Up to where the part is done once these events are: never beyond what another take holds or nobody has taken. Those of which nobody says
   * what became of them count as stored.
   */
  after(events: readonly QueuedPartEvent[], outcomeOf?: OutcomeOf): LogPosition {
    const isOwn = among(events);
    const { all } = this.#entries;
    const end = all.findIndex((entry) => entry.state !== "passed" && !isOwn(entry));
    const done = end === -1 ? all : all.slice(0, end);
    const counts = countsOf(done, ({ event }) => bookOf(outcomeOf?.(event) ?? "stored"));
    return this.#books.positionAt(behind(this.#done, done), counts);
  }

  /** A stored position says that more is done; the number of events that are left out. What is taken stays so. */
  skipTo(position: LogPosition): number {
    if (isUpTo(position, this.#done)) return 0;
    this.#edge.noteDone(position);
    const others = this.#books.notStored(position, countsOf(this.#entries.upTo(position)));
    // Which of them it was nobody knows, and the books need no more than the number.
    const count = this.#entries.finishWaiting(position, () => others.pop() ?? "stored");
    this.#settle();
    if (this.#entries.all.length > 0 || isUpTo(position, this.#edge.at)) return count + this.noteStored(position);
    const unread = position.events - this.#edge.at.events;
    this.#books.take(position);
    this.#edge.moveTo(position);
    return count + unread;
  }

  /**
   * A stored position counts what is up to it, also what was gone before it could be read here. Returns the number of such events, once all
   * others up to it are done. It may be that of one database of several: what is there is read nevertheless.
   */
  noteStored(position: LogPosition): number {
    if (!this.#books.isNews(position)) return 0;
    this.#edge.noteStored(position);
    this.#counted = later(position, this.#counted);
    return this.#adopt();
  }

  /** An event has a dead letter. */
  leaveOut(place: Pick<QueuedPartEvent, "offset" | "index">): void {
    this.#entries.finishAt(place, "deadLettered");
    this.#settle();
  }

  /** Discards what nobody has taken, so that the rest can be finished. */
  discardWaiting(): void {
    this.#entries.discardWaiting();
  }

  get #done(): Passed {
    return this.#books.done;
  }

  #push(read: ReadEvent, known: KnownOfEvents): void {
    this.#entries.add(read, bookBefore(read, known));
  }

  /** Moves over what is done. */
  #settle(): void {
    const counted = this.#counted;
    const done = this.#entries.shift(counted);
    if (done.length > 0) this.#books.moveTo(behind(this.#done, done), countsOf(done));
    if (counted === undefined) return;
    this.#adopt();
    if (this.#counted === undefined) this.#settle();
  }

  /** Counts what is gone before the position of others, once all that was read up to it is done. */
  #adopt(): number {
    const position = this.#counted;
    const [first] = this.#entries.all;
    if (position === undefined || first === undefined || isUpTo(first, position)) return 0;
    this.#counted = undefined;
    const more = this.#books.adopt(position);
    if (more === 0) return 0;
    this.#edge.counted(more);
    this.#entries.counted(more);
    return more;
  }
}

/** What became of events, but for those that are stored. */
function notStored({ deadLettered, filtered }: SettledEvents): Book[] {
  return [...Array<Book>(filtered).fill("filtered"), ...Array<Book>(deadLettered).fill("deadLettered")];
}

/** What became of an event before anybody takes it; undefined where it waits. */
function bookBefore(queued: QueuedPartEvent, known: KnownOfEvents): Book | undefined {
  if (known.hasLetter?.(queued) === true) return "deadLettered";
  return known.isOfOthers?.(queued.event) === true ? "filtered" : undefined;
}
