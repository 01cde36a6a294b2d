import { isUpTo, type LogPosition, later } from "../../core/log/log-position.js";
import { type Book, PartBooks } from "../../core/log/part-books.js";
import type { ReadRecord } from "../../core/log/read-edge.js";

/** An event of a log, and what becomes of it whoever has it. */
export interface ModelEvent {
  readonly offset: number;
  readonly index: number;
  readonly book: Book;
  /** Its number in the log that it came from; absent: it came from none. */
  readonly origin?: number | undefined;
}

interface Entry {
  readonly offset: number;
  readonly index: number;
  events: number;
  readonly origin: number | undefined;
  state: "waiting" | "taken" | "done";
  /** Undefined for one that came before. */
  book: Book | undefined;
}

/** The name of the log that events came from. */
export const ORIGIN = "other/0";

/** What {@link PartQueue} is to do, with an entry for each event. */
export class PartQueueModel {
  #entries: Entry[] = [];
  readonly #books: PartBooks;
  #at: { offset: number; index: number; events: number };
  #origin: number;
  #next: number;
  #counted: LogPosition | undefined;

  constructor(from: LogPosition) {
    this.#books = new PartBooks(from);
    this.#at = from;
    this.#origin = originOf(from);
    this.#next = Math.max(0, from.offset);
  }

  get done(): LogPosition {
    return this.#books.position;
  }

  get next(): number {
    return this.#next;
  }

  get size(): number {
    return this.#at.events - this.done.events;
  }

  get waiting(): readonly string[] {
    return this.#entries.filter(({ state }) => state === "waiting").map(keyOf);
  }

  read({ offset, events }: Pick<ReadRecord, "offset" | "events">, bookOf: (place: string) => Book | undefined): void {
    if (offset < this.#next) return;
    this.#next = offset + 1;
    const from = offset === this.#at.offset ? this.#at.index + 1 : 0;
    for (let index = from; index < events.length; index += 1) {
      const place = { offset, index };
      this.#push(place, events[index]?.origin?.offset, bookOf(keyOf(place)));
    }
    this.#settle();
  }

  take(max: number): readonly string[] {
    const taken = this.#entries.filter(({ state }) => state === "waiting").slice(0, max);
    for (const entry of taken) entry.state = "taken";
    return taken.map(keyOf);
  }

  restore(places: readonly string[]): void {
    for (const entry of this.#taken(places)) entry.state = "waiting";
  }

  finish(places: readonly string[], books: readonly Book[]): void {
    for (const [at, entry] of this.#taken(places).entries()) {
      entry.state = "done";
      entry.book = books[at];
    }
    this.#settle();
  }

  after(places: readonly string[], bookOf: (place: string) => Book): LogPosition {
    const taken = new Set(this.#taken(places));
    const end = this.#entries.findIndex((entry) => entry.state !== "done" && !taken.has(entry));
    const passed = this.#entries.slice(0, end === -1 ? this.#entries.length : end);
    const books = passed.map((entry) => (entry.state === "done" ? entry.book : bookOf(keyOf(entry))));
    return this.#books.positionAt(this.#behind(passed), countsOf(books));
  }

  skipTo(position: LogPosition): void {
    if (isUpTo(position, this.done)) return;
    const passed = this.#entries.filter((entry) => isUpTo(entry, position));
    const others = this.#books.notStored(position, countsOf(passed.map(({ book }) => book)));
    for (const entry of passed) {
      if (entry.state !== "waiting") continue;
      entry.state = "done";
      entry.book = others.pop() ?? "stored";
    }
    this.#settle();
    if (this.#entries.length > 0 || isUpTo(position, this.#at)) this.noteStored(position);
    else this.#begin(position);
  }

  noteStored(position: LogPosition): void {
    if (!this.#books.isNews(position)) return;
    this.#counted = later(position, this.#counted);
    this.#adopt();
  }

  leaveOut(place: string): void {
    const found = this.#entries.find((entry) => keyOf(entry) === place);
    if (found?.state !== "waiting") return;
    found.state = "done";
    found.book = "deadLettered";
    this.#settle();
  }

  goBackTo(offset: number): boolean {
    const kept = this.#entries.filter((entry) => entry.offset < offset);
    if (this.#entries.slice(kept.length).some(({ state }) => state !== "waiting")) return false;
    this.#entries = kept;
    this.#at = this.#behind(kept);
    this.#origin = originOf(this.#behind(kept));
    this.#next = offset;
    return true;
  }

  #push(place: Pick<Entry, "offset" | "index">, origin: number | undefined, known: Book | undefined): void {
    const isRepeated = origin !== undefined && origin <= this.#origin;
    if (origin !== undefined) this.#origin = Math.max(origin, this.#origin);
    const events = this.#at.events + (isRepeated ? 0 : 1);
    const book = isRepeated ? undefined : known;
    const state = isRepeated || book !== undefined ? "done" : "waiting";
    this.#entries.push({ ...place, events, origin: isRepeated ? undefined : origin, state, book });
    this.#at = { ...place, events };
  }

  #begin(position: LogPosition): void {
    this.#books.take(position);
    this.#at = position;
    this.#origin = originOf(position);
    this.#next = Math.max(this.#next, position.offset);
  }

  #taken(places: readonly string[]): readonly Entry[] {
    return this.#entries.filter((entry) => entry.state === "taken" && places.includes(keyOf(entry)));
  }

  #behind(entries: readonly Entry[]): Pick<LogPosition, "offset" | "index" | "events" | "origins"> {
    const { offset, index, events } = entries.at(-1) ?? this.done;
    const origin = entries.findLast((entry) => entry.origin !== undefined)?.origin;
    const origins = origin === undefined ? this.done.origins : new Map([[ORIGIN, { offset: origin, index: 0 }]]);
    return { offset, index, events, origins };
  }

  #settle(): void {
    const counted = this.#counted;
    const isDone = (entry: Entry) => entry.state === "done" && (counted === undefined || isUpTo(entry, counted));
    const end = this.#entries.findIndex((entry) => !isDone(entry));
    const passed = this.#entries.slice(0, end === -1 ? this.#entries.length : end);
    this.#books.moveTo(this.#behind(passed), countsOf(passed.map(({ book }) => book)));
    this.#entries = this.#entries.slice(passed.length);
    if (counted === undefined) return;
    this.#adopt();
    if (this.#counted === undefined) this.#settle();
  }

  #adopt(): void {
    const [first] = this.#entries;
    if (this.#counted === undefined || first === undefined || isUpTo(first, this.#counted)) return;
    const more = this.#books.adopt(this.#counted);
    this.#counted = undefined;
    this.#at = { ...this.#at, events: this.#at.events + more };
    for (const entry of this.#entries) entry.events += more;
  }
}

function keyOf({ offset, index }: Pick<Entry, "offset" | "index">): string {
  return `${offset}+${index}`;
}

function originOf({ origins }: Pick<LogPosition, "origins">): number {
  return origins.get(ORIGIN)?.offset ?? -1;
}

function countsOf(books: readonly (Book | undefined)[]): Readonly<Record<Book, number>> {
  const count = (book: Book) => books.filter((one) => one === book).length;
  return { stored: count("stored"), deadLettered: count("deadLettered"), filtered: count("filtered") };
}
