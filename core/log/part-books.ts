import type { SettledEvents } from "../sdk/index.js";
import { isUpTo, type LogPosition } from "./log-position.js";
import type { Passed } from "./read-edge.js";

/** What became of the events of a part that are done. In the books of a log it does not matter by whom they are stored. */
type Books = Omit<SettledEvents, "elsewhere">;

/** Events to be counted, and those of them that are not stored. */
interface Further {
  readonly events: number;
  readonly deadLettered: number;
  readonly filtered: number;
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
  positionAt(place: Passed, { deadLettered, filtered }: Omit<Further, "events">): LogPosition {
    const events = place.events - this.#done.events;
    return { ...place, ...added(this.#books, { events, deadLettered, filtered }) };
  }

  /** The part is done up to this place; its events are counted already. */
  moveTo(place: Passed): void {
    this.#done = place;
  }

  /** As a stored position says, whatever was counted here. */
  take(position: LogPosition): void {
    this.#done = position;
    this.#books = position;
  }

  count(outcome: keyof SettledEvents): void {
    const book = outcome === "elsewhere" ? "stored" : outcome;
    this.#books = { ...this.#books, [book]: this.#books[book] + 1 };
  }

  countAll({ stored, elsewhere, deadLettered, filtered }: SettledEvents): void {
    const events = stored + elsewhere + deadLettered + filtered;
    this.#books = added(this.#books, { events, deadLettered, filtered });
  }

  /** Whether a position is behind what is done here, or knows of more events up to there. */
  isNews(position: LogPosition): boolean {
    return !isUpTo(position, this.#done) || (isUpTo(this.#done, position) && position.events > this.#done.events);
  }

  /** What a position counts as not stored, beside what is counted or known of these events here. */
  notStored(
    position: LogPosition,
    passed: readonly { readonly outcome?: keyof SettledEvents | undefined }[],
  ): ("deadLettered" | "filtered")[] {
    return (["deadLettered", "filtered"] as const).flatMap((book) => {
      const known = this.#books[book] + passed.filter(({ outcome }) => outcome === book).length;
      return Array.from({ length: Math.max(0, position[book] - known) }, () => book);
    });
  }

  /** Counts the events that a position knows of and nobody could read here; returns their number. */
  adopt(position: LogPosition): number {
    const events = this.isNews(position) ? position.events - this.#done.events : 0;
    if (events <= 0) return 0;
    // What was done behind the position is in the books already.
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
