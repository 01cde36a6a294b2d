import { randomUUID } from "node:crypto";
import type { Event, SettledEvents } from "../../sdk/index.js";

/** Settled events by the book of the channel in which they count. */
export function booksOf(
  events: readonly Event[],
  settlements: Pick<Settlements, "outcomeOf">,
): ReadonlyMap<keyof SettledEvents, readonly Event[]> {
  const books = new Map<keyof SettledEvents, Event[]>();
  for (const event of events) {
    const book = bookOf(event, settlements);
    if (book === undefined) continue;
    books.set(book, [...(books.get(book) ?? []), event]);
  }
  return books;
}

/** The book of one event; undefined while it is not settled. */
export function bookOf(event: Event, settlements: Pick<Settlements, "outcomeOf">): keyof SettledEvents | undefined {
  const outcome = settlements.outcomeOf(event);
  if (outcome === "dead-lettered") return "deadLettered";
  return outcome === "stored-before" ? "filtered" : outcome;
}

/** What became of an event of a batch. */
export type Outcome = "stored" | "dead-lettered" | "filtered";

/** The same, that another agent has stored the event, and that an earlier replay of the same dead letter has. */
export type SharedOutcome = Outcome | "elsewhere" | "stored-before";

/** How many events ended in each way. */
export type Settled = Readonly<Record<Outcome, number>>;

/**
 * What became of events that are still in their channel. A batch that was split and then abandoned goes back whole;
 * those of its events that are stored already must not be stored again when they are taken the next time.
 */
export class Settlements {
  #outcomes = new Outcomes();
  #ids = new EventNotes<string>();
  /** Those of which a write failed that may have stored them. */
  #doubts = new EventNotes<true>();

  /** From now on the outcomes of both are the same: events move from one channel to the other. */
  join(other: Settlements): void {
    this.#outcomes = other.#outcomes;
    this.#ids = other.#ids;
    this.#doubts = other.#doubts;
  }

  /** Names an event for as long as it is in its channel, in this process. */
  idOf(event: Event): string {
    const known = this.#ids.get(event);
    if (known !== undefined) return known;
    const id = randomUUID();
    this.#ids.set(event, id);
    return id;
  }

  note(events: readonly Event[], outcome: SharedOutcome): void {
    this.#outcomes.note(events, outcome);
  }

  /** A write of these events failed, and may have stored them. */
  doubt(events: readonly Event[]): void {
    this.#doubts.setAll(events, true);
  }

  /** The store has told whether it has these events. */
  told(events: readonly Event[]): void {
    this.#doubts.forget(events);
  }

  /** Whether only the store knows if it has the event. */
  isDoubted(event: Event): boolean {
    return this.#doubts.get(event) === true;
  }

  /** The events that are not settled. */
  open(events: readonly Event[]): readonly Event[] {
    if (this.#outcomes.areNone) return events;
    return events.some((event) => this.#outcomes.of(event) !== undefined)
      ? events.filter((event) => this.#outcomes.of(event) === undefined)
      : events;
  }

  /** The events that are settled. */
  settled(events: readonly Event[]): readonly Event[] {
    return events.filter((event) => this.#outcomes.of(event) !== undefined);
  }

  /** Undefined while it is not settled. */
  outcomeOf(event: Event): SharedOutcome | undefined {
    return this.#outcomes.of(event);
  }

  /** Events that another agent has stored. */
  elsewhere(events: readonly Event[]): number {
    return this.#outcomes.count(events).elsewhere;
  }

  count(events: readonly Event[]): Settled {
    const { stored, filtered, "stored-before": before, "dead-lettered": deadLettered } = this.#outcomes.count(events);
    return { stored, filtered: filtered + before, "dead-lettered": deadLettered };
  }

  /** Forgets events that have left the channel. */
  close(events: readonly Event[]): void {
    this.#outcomes.forget(events);
    this.#ids.forget(events);
    this.#doubts.forget(events);
  }
}

/** The outcomes of events. */
class Outcomes {
  readonly #byEvent = new EventNotes<SharedOutcome>();
  /** Events with one outcome that are not noted one by one: most batches are stored in one write, and then leave the channel. */
  #whole: { readonly events: readonly Event[]; readonly outcome: SharedOutcome } | undefined;

  get areNone(): boolean {
    return this.#whole === undefined && this.#byEvent.isEmpty;
  }

  note(events: readonly Event[], outcome: SharedOutcome): void {
    if (this.areNone && events.length > 0) this.#whole = { events, outcome };
    else this.#oneByOne().setAll(events, outcome);
  }

  of(event: Event): SharedOutcome | undefined {
    return this.#oneByOne().get(event);
  }

  count(events: readonly Event[]): Readonly<Record<SharedOutcome, number>> {
    const counts = { stored: 0, "dead-lettered": 0, filtered: 0, elsewhere: 0, "stored-before": 0 };
    if (this.#whole?.events === events) counts[this.#whole.outcome] = events.length;
    else {
      for (const event of events) {
        const outcome = this.of(event);
        if (outcome !== undefined) counts[outcome] += 1;
      }
    }
    return counts;
  }

  forget(events: readonly Event[]): void {
    if (this.#whole?.events === events) this.#whole = undefined;
    else this.#oneByOne().forget(events);
  }

  /** All of the notes, also those of the events that were noted as one. */
  #oneByOne(): EventNotes<SharedOutcome> {
    if (this.#whole !== undefined) {
      const { events, outcome } = this.#whole;
      this.#whole = undefined;
      this.#byEvent.setAll(events, outcome);
    }
    return this.#byEvent;
  }
}

/** Notes about events that are still in their channel. It counts them, because it has none most of the time, and a weak map is slow to ask. */
class EventNotes<Note> {
  readonly #notes = new WeakMap<Event, Note>();
  #count = 0;

  get isEmpty(): boolean {
    return this.#count === 0;
  }

  get(event: Event): Note | undefined {
    return this.#count === 0 ? undefined : this.#notes.get(event);
  }

  set(event: Event, note: Note): void {
    if (!this.#notes.has(event)) this.#count += 1;
    this.#notes.set(event, note);
  }

  setAll(events: readonly Event[], note: Note): void {
    for (const event of events) this.set(event, note);
  }

  forget(events: readonly Event[]): void {
    if (this.#count === 0) return;
    for (const event of events) if (this.#notes.delete(event)) this.#count -= 1;
  }
}
