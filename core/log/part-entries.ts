import { isUpTo, type LogPosition } from "./log-position.js";
import type { Book } from "./part-books.js";
import { PassedRun } from "./passed-run.js";
import type { Place, QueuedPartEvent, ReadEvent } from "./read-edge.js";

/** An event that waits or that a take holds, or events that have passed one of these. */
type PartEntry = ReadEvent | PassedRun;

/** Beyond this number runs are joined also where others may have counted events that are gone. */
const MOST_APART = 10_000;

/** What of an event is done; undefined where it is not. */
type Done = (event: ReadEvent) => Book | "repeated" | undefined;

/** What was read of a part and is not behind its position, oldest first: events, and the number of those that have passed older ones. */
export class PartEntries {
  #list: PartEntry[] = [];
  /** No entry before this one waits. */
  #firstWaiting = 0;
  /** No take holds anything from this one on. */
  #firstNew = 0;
  #waiting = 0;
  #bytes = 0;
  #passedTo = -1;
  readonly #isWhole: () => boolean;

  /** `isWhole`: whether all events that others may have counted were read. */
  constructor(isWhole: () => boolean) {
    this.#isWhole = isWhole;
  }

  get all(): readonly PartEntry[] {
    return this.#list;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** Bytes of what waits and of what takes hold. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The offset of the last event that has passed; -1 for none. */
  get passedTo(): number {
    return this.#passedTo;
  }

  /** `book`: absent for an event that is to be taken. */
  add(entry: ReadEvent, book?: Book): void {
    this.#list.push(entry);
    this.#bytes += entry.bytes;
    this.#waiting += 1;
    const done = entry.state === "repeated" ? entry.state : book;
    if (done !== undefined) this.#pass(this.#list.length - 1, this.#list.length, () => done);
  }

  take(max: number): readonly QueuedPartEvent[] {
    const taken: QueuedPartEvent[] = [];
    for (; this.#firstWaiting < this.#list.length && taken.length < max; this.#firstWaiting += 1) {
      const entry = this.#list[this.#firstWaiting];
      if (entry?.state !== "waiting") continue;
      entry.state = "taken";
      taken.push(entry);
    }
    this.#firstNew = Math.max(this.#firstNew, this.#firstWaiting);
    this.#waiting -= taken.length;
    return taken;
  }

  restore(events: readonly QueuedPartEvent[]): void {
    const isOwn = among(events);
    for (let at = 0; at < this.#firstNew; at += 1) {
      const entry = this.#list[at];
      if (entry?.state !== "taken" || !isOwn(entry)) continue;
      entry.state = "waiting";
      this.#waiting += 1;
      this.#firstWaiting = Math.min(this.#firstWaiting, at);
    }
  }

  /** What of a take is done. */
  finish(events: readonly QueuedPartEvent[], book: (event: ReadEvent) => Book): void {
    const isOwn = among(events);
    this.#pass(0, this.#firstNew, (event) => (event.state === "taken" && isOwn(event) ? book(event) : undefined));
  }

  /** What waits up to a position is done; returns how many events that are. */
  finishWaiting(position: LogPosition, book: () => Book): number {
    const { waiting } = this;
    const end = this.#endOf(position);
    this.#pass(0, end, ({ state }) => (state === "waiting" ? book() : undefined));
    return waiting - this.#waiting;
  }

  /** The event at this place is done, if it waits. */
  finishAt(place: Place, book: Book): void {
    const at = this.#list.findIndex((entry) => isUpTo(place, entry));
    const found = this.#list[at];
    if (found?.state !== "waiting" || found.offset !== place.offset || found.index !== place.index) return;
    this.#pass(Math.max(0, at - 1), at + 2, (event) => (event === found ? book : undefined));
  }

  /** The entries up to a position. */
  upTo(position: LogPosition): readonly PartEntry[] {
    return this.#list.slice(0, this.#endOf(position));
  }

  /** Removes what is done from the beginning, up to a position if there is one. */
  shift(limit: LogPosition | undefined): readonly PassedRun[] {
    const end = limit === undefined ? this.#list.length : this.#endOf(limit);
    const done: PassedRun[] = [];
    for (let at = 0; at < end; at += 1) {
      const entry = this.#list[at];
      if (entry?.state !== "passed") break;
      done.push(entry);
    }
    if (done.length > 0) this.#remove(0, done.length);
    return done;
  }

  /** Discards what was read from this offset on; false, and discards nothing, where some of it does not wait. */
  goBackTo(offset: number): boolean {
    const found = this.#list.findIndex((entry) => entry.offset >= offset);
    const kept = found === -1 ? this.#list.length : found;
    let bytes = 0;
    for (const entry of this.#list.slice(kept)) {
      if (entry.state !== "waiting") return false;
      bytes += entry.bytes;
    }
    this.#waiting -= this.#list.length - kept;
    this.#bytes -= bytes;
    this.#keep(kept);
    return true;
  }

  /** Discards what waits, so that the rest can be finished. */
  discardWaiting(): void {
    this.#keep(this.#list.findLastIndex(({ state }) => state === "taken") + 1);
    this.#waiting = 0;
    this.#firstWaiting = this.#list.length;
  }

  /** There are that many events more before the first one. */
  counted(more: number): void {
    for (const entry of this.#list) {
      if (entry.state === "passed") entry.counted(more);
      else entry.events += more;
    }
  }

  #keep(length: number): void {
    this.#list = this.#list.slice(0, length);
    this.#firstWaiting = Math.min(this.#firstWaiting, length);
    this.#firstNew = Math.min(this.#firstNew, length);
  }

  /** How many entries are up to a position. A run in which it ends becomes two. */
  #endOf(position: LogPosition): number {
    const at = this.#list.findIndex((entry) => !isUpTo(entry, position));
    if (at === -1) return this.#list.length;
    const next = this.#list[at];
    const front = next?.state === "passed" ? next.split(position) : undefined;
    if (front === undefined) return at;
    this.#list.splice(at, 0, front);
    if (this.#firstWaiting > at) this.#firstWaiting += 1;
    if (this.#firstNew > at) this.#firstNew += 1;
    return at + 1;
  }

  /** Of these entries those that are done pass, and what has passed one after another becomes one entry. */
  #pass(from: number, to: number, done: Done): void {
    const canJoin = this.#isWhole() || this.#list.length - this.#waiting > MOST_APART;
    const end = Math.min(to, this.#list.length);
    let kept = from;
    for (let at = from; at < end; at += 1) {
      const entry = this.#list[at];
      if (entry === undefined) break;
      const passed = this.#passed(entry, done);
      const last = this.#list[kept - 1];
      if (canJoin && passed.state === "passed" && last?.state === "passed" && last.join(passed)) continue;
      this.#list[kept] = passed;
      kept += 1;
    }
    if (kept === end) return;
    // What waits may have moved to the front.
    if (this.#firstWaiting < end) this.#firstWaiting = Math.min(this.#firstWaiting, from);
    this.#remove(kept, end);
  }

  #passed(entry: PartEntry, done: Done): PartEntry {
    const book = entry.state === "passed" ? undefined : done(entry);
    if (entry.state === "passed" || book === undefined) return entry;
    this.#bytes -= entry.bytes;
    if (entry.state !== "taken") this.#waiting -= 1;
    this.#passedTo = Math.max(this.#passedTo, entry.offset);
    return PassedRun.of(entry, book === "repeated" ? undefined : book);
  }

  #remove(from: number, to: number): void {
    const removed = to - from;
    // In most cases more waits behind them than is before them.
    const isFront = from < this.#list.length - to;
    if (isFront) this.#list.copyWithin(removed, 0, from);
    this.#list.splice(isFront ? 0 : from, removed);
    this.#firstWaiting = behindRemoved(this.#firstWaiting, from, to);
    this.#firstNew = behindRemoved(this.#firstNew, from, to);
  }
}

/** Where an entry is after some were removed; one of these becomes the one behind them. */
function behindRemoved(at: number, from: number, to: number): number {
  if (at <= from) return at;
  return at < to ? from : at - (to - from);
}

/** Whether an event is one of these, each of which is asked about once. In most cases that is in their order: then no set of them is made. */
export function among(events: readonly QueuedPartEvent[]): (asked: QueuedPartEvent) => boolean {
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
