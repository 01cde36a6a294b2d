import type { SettledEvents } from "../sdk/index.js";
import { isUpTo, type LogPosition } from "./log-position.js";
import type { Passed } from "./read-edge.js";

/** What became of an event of a part. In the books of a log it does not matter by whom it is stored. */
export type Book = Exclude<keyof SettledEvents, "elsewhere">;

/** How many events are in each book. */
export type Books = Readonly<Record<Book, number>>;

/** Those of further events that are not stored. */
type NotStored = Omit<Books, "stored">;

interface Further extends NotStored {
  readonly events: number;
}

/** Up to where a part is done without a gap, and what became of its events. */
export class PartBooks {
  #done: Passed;
  #books: Books;

  constructor(from: LogPosition) {
    this.#done = from;
    this.#books = from;
  }

  get done(): Passed {
    return this.#done;
  }

  get position(): LogPosition {
    return { ...this.#done, ...booksOf(this.#books) };
  }

  /** The position once a part is done up to this place, and the events up to there are stored but these. */
  positionAt(place: Passed, { deadLettered, filtered }: NotStored): LogPosition {
    const events = place.events - this.#done.events;
    return { ...place, ...added(this.#books, { events, deadLettered, filtered }) };
  }

  /** The part is done up to this place, and the events up to there are stored but these. */
  moveTo(place: Passed, notStored: NotStored): void {
    this.#books = this.positionAt(place, notStored);
    this.#done = place;
  }

  /** As a stored position says, whatever was counted here. */
  take(position: LogPosition): void {
    this.#done = position;
    this.#books = position;
  }

  /** Whether a position is behind what is done here, or knows of more events up to there. */
  isNews(position: LogPosition): boolean {
    return !isUpTo(position, this.#done) || (isUpTo(this.#done, position) && position.events > this.#done.events);
  }

  /** What a position counts as not stored, beside what is counted or known of the events up to it here. */
  notStored(position: LogPosition, known: NotStored): Book[] {
    return (["deadLettered", "filtered"] as const).flatMap((book) => {
      const length = Math.max(0, position[book] - this.#books[book] - known[book]);
      return Array.from({ length }, () => book);
    });
  }

  /** Counts the events that a position knows of and nobody could read here; returns their number. */
  adopt(position: LogPosition): number {
    const events = this.isNews(position) ? position.events - this.#done.events : 0;
    if (events <= 0) return 0;
    const deadLettered = Math.min(events, Math.max(0, position.deadLettered - this.#books.deadLettered));
    const filtered = Math.min(events - deadLettered, Math.max(0, position.filtered - this.#books.filtered));
    this.#books = added(this.#books, { events, deadLettered, filtered });
    this.#done = position;
    return events;
  }
}

function booksOf({ stored, deadLettered, filtered }: Books): Books {
  return { stored, deadLettered, filtered };
}

/** Books with further events, of which those that are neither dead letters nor filtered are stored. */
function added(books: Books, { events, deadLettered, filtered }: Further): Books {
  return {
    stored: books.stored + events - deadLettered - filtered,
    deadLettered: books.deadLettered + deadLettered,
    filtered: books.filtered + filtered,
  };
}

export function bookOf(outcome: keyof SettledEvents): Book {
  return outcome === "elsewhere" ? "stored" : outcome;
}
