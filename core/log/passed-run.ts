import { isUpTo, type LogPosition } from "./log-position.js";
import type { Book, Books } from "./part-books.js";
import type { Origins, Place, ReadEvent } from "./read-edge.js";

interface RunParts extends Place {
  readonly first: Place;
  readonly at: number;
  readonly before: number;
  readonly events: number;
  readonly book: Book | undefined;
  readonly origins: Map<string, Place> | undefined;
}

/**
 * Events that follow one another and are done although older ones are not, all with one outcome: of them only the number is kept, and the
 * places of the first and the last one. Those that came from their log before do not count.
 */
export class PassedRun {
  readonly state = "passed";
  /** When the first one was put. */
  readonly at: number;
  /** The place of the last one, and how many events of the part there are up to it. */
  offset: number;
  index: number;
  events: number;
  /** The place of the first one; no event is between it and what is before. */
  #first: Place;
  /** How many events of the part are before the first one. */
  #before: number;
  #book: Book | undefined;
  #origins: Map<string, Place> | undefined;

  private constructor({ first, at, offset, index, before, events, book, origins }: RunParts) {
    this.at = at;
    this.offset = offset;
    this.index = index;
    this.events = events;
    this.#first = first;
    this.#before = before;
    this.#book = book;
    this.#origins = origins;
  }

  /** `book`: undefined for an event that came from its log before. */
  static of({ offset, index, at, events, origin }: ReadEvent, book: Book | undefined): PassedRun {
    const first = { offset, index };
    const before = book === undefined ? events : events - 1;
    const origins =
      origin === undefined ? undefined : new Map([[origin.of, { offset: origin.offset, index: origin.index }]]);
    // Not by spreading: one is made for each event, and each member that follows a spread takes V8 a microsecond and more.
    return new PassedRun({ first, at, offset, index, before, events, book, origins });
  }

  get book(): Book | undefined {
    return this.#book;
  }

  /** How many of them count. */
  get count(): number {
    return this.events - this.#before;
  }

  /** For each part of a log that they came from, the last of them. */
  get origins(): Origins | undefined {
    return this.#origins;
  }

  /** Adds what follows; false where that has another outcome. */
  join(next: PassedRun): boolean {
    if (this.count > 0 && next.count > 0 && this.#book !== next.#book) return false;
    if (this.count === 0) this.#book = next.#book;
    this.offset = next.offset;
    this.index = next.index;
    this.events = next.events;
    if (this.#origins === undefined) this.#origins = next.#origins;
    else for (const [of, place] of next.#origins ?? []) this.#origins.set(of, place);
    return true;
  }

  /**
   * Takes those up to a position out of it, where that ends within them. How many they are the position says, which counts the events of the
   * part; so runs are made only where it and this agent count the same ones.
   */
  split(position: LogPosition): PassedRun | undefined {
    if (!isUpTo(this.#first, position) || isUpTo(this, position)) return undefined;
    const { offset, index } = position;
    const events = Math.min(this.events, Math.max(this.#before, position.events));
    const origins = this.#origins === undefined ? undefined : knownOf(this.#origins, position.origins);
    const { at } = this;
    const first = this.#first;
    const before = this.#before;
    const front = new PassedRun({ first, at, offset, index, before, events, book: this.#book, origins });
    this.#first = { offset, index: index + 1 };
    this.#before = events;
    return front;
  }

  /** There are that many events more before it. */
  counted(more: number): void {
    this.events += more;
    this.#before += more;
  }
}

/** What a position says of these origins. */
function knownOf(origins: Origins, position: Origins): Map<string, Place> {
  const known = new Map<string, Place>();
  for (const of of origins.keys()) {
    const place = position.get(of);
    if (place !== undefined) known.set(of, place);
  }
  return known;
}

/** What became of the events of those of these entries that have passed, and of others as far as somebody says. */
export function countsOf(entries: readonly (ReadEvent | PassedRun)[], bookOfOther?: (entry: ReadEvent) => Book): Books {
  const counts = { stored: 0, deadLettered: 0, filtered: 0 };
  for (const entry of entries) {
    const isPassed = entry.state === "passed";
    const book = isPassed ? entry.book : bookOfOther?.(entry);
    if (book !== undefined) counts[book] += isPassed ? entry.count : 1;
  }
  return counts;
}
