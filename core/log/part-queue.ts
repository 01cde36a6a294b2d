import type { Event, SettledEvents } from "../sdk/index.js";
import { isUpTo, type LogPosition, later } from "./log-position.js";
import { PartBooks } from "./part-books.js";
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

/** In place of an event that is done. */
const NOTHING: Event = { headers: {}, body: undefined };

/**
 * What one agent has read of one part and what of it is done. Takes get the oldest events that wait; the position moves over
 * what is done without a gap.
 */
export class PartQueue {
  readonly part: number;
  /** Oldest first, from the first one that is not done. */
  #entries: ReadEvent[] = [];
  /** No entry before this one waits. */
  #firstWaiting = 0;
  readonly #books: PartBooks;
  readonly #edge: ReadEdge;
  /** A position that others have stored, while events up to it are not done here. */
  #counted: LogPosition | undefined;
  #waiting = 0;
  #bytes = 0;

  /**
   * `from`: what is done already; nothing at or before it is handed out. Records before the offset `before` may have been
   * delivered by others. Where the log is `gapless` an offset that is missing is a record that is lost.
   */
  constructor(part: number, from: LogPosition, before: number, gapless = false) {
    this.part = part;
    this.#books = new PartBooks(from);
    this.#edge = new ReadEdge(part, from, before, gapless);
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
    return this.#waiting;
  }

  /** Bytes of what was read and is not done. */
  get bytes(): number {
    return this.#bytes;
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
    return this.#entries[0]?.at;
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
    for (const record of records) for (const read of this.#edge.read(record, this.#done)) this.#push(read, known);
    this.#settle();
  }

  /**
   * What was read from this offset on, which is behind what is done, is discarded, to be read again; false where a take has some of it, or
   * where some is done.
   */
  goBackTo(offset: number): boolean {
    const kept = this.#entries.filter((entry) => entry.offset < offset);
    const again = this.#entries.slice(kept.length);
    if (again.some(({ state }) => state !== "waiting")) return false;
    this.#entries = kept;
    this.#firstWaiting = Math.min(this.#firstWaiting, kept.length);
    this.#waiting -= again.length;
    for (const { bytes } of again) this.#bytes -= bytes;
    this.#edge.goBackTo(offset, behind(this.#done, kept));
    return true;
  }

  /** What is before this offset is gone: reading goes on with it. */
  skip(next: number): void {
    this.#edge.skip(next);
  }

  take(max: number): readonly QueuedPartEvent[] {
    const taken: QueuedPartEvent[] = [];
    for (; this.#firstWaiting < this.#entries.length && taken.length < max; this.#firstWaiting += 1) {
      const entry = this.#entries[this.#firstWaiting];
      if (entry?.state !== "waiting") continue;
      entry.state = "taken";
      taken.push(entry);
    }
    this.#waiting -= taken.length;
    return taken;
  }

  restore(events: readonly QueuedPartEvent[]): void {
    const isOwn = among(events);
    this.#entries.forEach((entry, at) => {
      if (entry.state !== "taken" || !isOwn(entry)) return;
      entry.state = "waiting";
      this.#waiting += 1;
      this.#firstWaiting = Math.min(this.#firstWaiting, at);
    });
  }

  /** `settled` says what became of them; absent: they are stored. */
  release(events: readonly QueuedPartEvent[], settled?: SettledEvents): void {
    this.#books.countAll(settled ?? { stored: events.length, elsewhere: 0, deadLettered: 0, filtered: 0 });
    const isOwn = among(events);
    let left = events.length;
    for (let at = 0; at < this.#entries.length && left > 0; at += 1) {
      const entry = this.#entries[at];
      if (entry === undefined || !isOwn(entry)) continue;
      left -= 1;
      if (entry.state === "taken") entry.state = "done";
    }
    this.#settle();
  }

  /** What of a take is done although older events of it are not: it is not handed out again, and needs no memory. */
  leave(events: readonly QueuedPartEvent[], outcome: keyof SettledEvents): void {
    const isOwn = among(events);
    this.#entries.forEach((entry, at) => {
      if (entry.state !== "taken" || !isOwn(entry)) return;
      this.#bytes -= entry.bytes;
      // Its take still holds the event.
      this.#entries[at] = { ...entry, event: NOTHING, bytes: 0, outcome, state: "done" };
    });
    this.#settle();
  }

  /**
   * Up to where the part is done once these events are: never beyond what another take holds or nobody has taken. Those of which nobody says
   * what became of them count as stored.
   */
  after(events: readonly QueuedPartEvent[], outcomeOf?: OutcomeOf): LogPosition {
    const isOwn = among(events);
    const passed = { deadLettered: 0, filtered: 0 };
    let count = 0;
    for (; count < this.#entries.length; count += 1) {
      const entry = this.#entries[count];
      if (entry === undefined || (entry.state !== "done" && !isOwn(entry))) break;
      const outcome = entry.outcome ?? outcomeOf?.(entry.event);
      if (outcome === "deadLettered" || outcome === "filtered") passed[outcome] += 1;
    }
    return this.#books.positionAt(behind(this.#done, this.#entries.slice(0, count)), passed);
  }

  /** A stored position says that more is done; the number of events that are left out. What is taken stays so. */
  skipTo(position: LogPosition): number {
    if (isUpTo(position, this.#done)) return 0;
    this.#edge.noteDone(position);
    const passed = this.#entries.filter((entry) => isUpTo(entry, position));
    const others = this.#books.notStored(position, passed);
    let count = 0;
    for (const entry of passed) {
      if (entry.state !== "waiting") continue;
      entry.state = "done";
      // Which of them it was nobody knows, and the books need no more than the number.
      entry.outcome = others.pop() ?? "stored";
      count += 1;
    }
    this.#waiting -= count;
    this.#settle();
    if (this.#entries.length > 0 || isUpTo(position, this.#edge.at)) return count + this.noteStored(position);
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
    const found = this.#entries.find(({ offset, index }) => offset === place.offset && index === place.index);
    if (found?.state !== "waiting") return;
    found.state = "done";
    found.outcome = "deadLettered";
    this.#waiting -= 1;
    this.#settle();
  }

  /** Discards what nobody has taken, so that the rest can be finished. */
  discardWaiting(): void {
    const kept = this.#entries.findLastIndex(({ state }) => state === "taken") + 1;
    this.#entries = this.#entries.slice(0, kept);
    this.#waiting = 0;
    this.#firstWaiting = kept;
  }

  get #done(): Passed {
    return this.#books.done;
  }

  #push(entry: ReadEvent, known: KnownOfEvents): void {
    this.#bytes += entry.bytes;
    this.#entries.push(entry);
    if (entry.state === "done") return;
    entry.outcome = outcomeOf(entry, known);
    if (entry.outcome === undefined) this.#waiting += 1;
    else entry.state = "done";
  }

  /** Moves over what is done. */
  #settle(): void {
    const counted = this.#counted;
    let count = 0;
    for (; count < this.#entries.length; count += 1) {
      const entry = this.#entries[count];
      if (entry?.state !== "done" || (counted !== undefined && !isUpTo(entry, counted))) break;
      this.#bytes -= entry.bytes;
      if (entry.outcome !== undefined) this.#books.count(entry.outcome);
    }
    if (count > 0) {
      this.#books.moveTo(behind(this.#done, this.#entries.splice(0, count)));
      this.#firstWaiting = Math.max(0, this.#firstWaiting - count);
    }
    if (counted === undefined) return;
    this.#adopt();
    if (this.#counted === undefined) this.#settle();
  }

  /** Counts what is gone before the position of others, once all that was read up to it is done. */
  #adopt(): number {
    const position = this.#counted;
    const [first] = this.#entries;
    if (position === undefined || first === undefined || isUpTo(first, position)) return 0;
    this.#counted = undefined;
    const more = this.#books.adopt(position);
    if (more === 0) return 0;
    this.#edge.counted(more);
    for (const entry of this.#entries) entry.events += more;
    return more;
  }
}

/** Whether an event is one of these, each of which is asked about once. In most cases that is in their order: then no set of them is made. */
function among(events: readonly QueuedPartEvent[]): (asked: QueuedPartEvent) => boolean {
  let at = 0;
  let rest: ReadonlySet<QueuedPartEvent> | undefined;
  return (asked) => {
    if (rest === undefined && asked === events[at]) {
      at += 1;
      return true;
    }
    if (at === events.length) return false;
    rest ??= new Set(events.slice(at));
    return rest.has(asked);
  };
}

/** What became of an event before anybody takes it; undefined where it waits. */
function outcomeOf(queued: QueuedPartEvent, known: KnownOfEvents): keyof SettledEvents | undefined {
  if (known.hasLetter?.(queued) === true) return "deadLettered";
  return known.isOfOthers?.(queued.event) === true ? "filtered" : undefined;
}
