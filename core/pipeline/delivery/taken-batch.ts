import { createHash, randomUUID } from "node:crypto";
import {
  AgentError,
  type Batch,
  type BatchPosition,
  type Event,
  letterHeader,
  type SettledEvents,
  type TakeTransaction,
} from "../../sdk/index.js";

/** The members of a transaction that a batch asks. */
export type TakenFrom = Pick<TakeTransaction, "positions" | "isRedelivered">;

/** All that a transaction took, or a part of it, on its way to a sink. */
export class TakenBatch {
  readonly events: readonly Event[];
  readonly #whole: readonly Event[];
  readonly #transaction: TakenFrom;
  readonly #settlements: Settlements;
  /** Events before its last one are not done and not in it. */
  readonly isPartial: boolean;

  /** `whole` is everything that the transaction took, in order; `events` are those to be delivered. */
  constructor(
    events: readonly Event[],
    whole: readonly Event[],
    transaction: TakenFrom,
    settlements: Settlements,
    isPartial = false,
  ) {
    this.isPartial = isPartial;
    this.events = events;
    this.#whole = whole;
    this.#transaction = transaction;
    this.#settlements = settlements;
  }

  /** True when several agents move the positions of the channel. */
  get isShared(): boolean {
    return this.#transaction.positions?.shared === true;
  }

  /** Where the channel stands once the last event of this batch and all before it are done; undefined for channels that forget. */
  get position(): string | undefined {
    const last = this.events.at(-1);
    return last === undefined ? undefined : this.#transaction.positions?.after(this.#whole.lastIndexOf(last) + 1);
  }

  /** The events of this batch that a position covers that was stored earlier. */
  coveredBy(position: string): readonly Event[] {
    const covered = this.#transaction.positions?.coveredBy(position) ?? [];
    if (covered.length === 0) return covered;
    const own = new Set(this.events);
    return covered.filter((event) => own.has(event));
  }

  /**
   * Names an event of this batch: as its dead letter for one that is replayed, over restarts behind a durable channel, over
   * retries behind one that forgets. Copies of a channel number their events alike: what the event holds tells these apart.
   */
  idOf(event: Event): string {
    const letter = event.headers[letterHeader];
    if (letter !== undefined) return letter;
    const inChannel = this.#transaction.positions?.idOf(event);
    return inChannel === undefined ? this.#settlements.idOf(event) : `${inChannel}-${hashOf(event)}`;
  }

  /** Those of its events that may have been delivered before; the batch itself if that is all. */
  redelivered(): TakenBatch {
    const again = this.events.filter((event) => this.isRedelivered(event));
    return again.length === this.events.length ? this : this.#part(again);
  }

  /** True for an event that may have been delivered before, perhaps by another agent. */
  isRedelivered(event: Event): boolean {
    return this.#transaction.isRedelivered?.(event) === true;
  }

  /** Two halves in order; the second is empty when there is one event. */
  split(): readonly [TakenBatch, TakenBatch] {
    return this.parted(Math.ceil(this.events.length / 2));
  }

  /** The first events and the others. */
  parted(count: number): readonly [TakenBatch, TakenBatch] {
    return [this.#part(this.events.slice(0, count)), this.#part(this.events.slice(count))];
  }

  /** Those of these events that are in the batch. */
  only(events: readonly Event[]): TakenBatch {
    const wanted = new Set(events);
    return this.#part(this.events.filter((event) => wanted.has(event)));
  }

  /** The batch without these events, which may not be done before the others are. */
  apartFrom(events: readonly Event[]): TakenBatch {
    const held = new Set(events);
    const others = this.events.filter((event) => !held.has(event));
    return new TakenBatch(others, this.#whole, this.#transaction, this.#settlements, true);
  }

  /** The events that are not settled; the batch itself while that is all of them. */
  open(): TakenBatch {
    const open = this.#settlements.open(this.events);
    return open === this.events ? this : this.#part(open);
  }

  /** Says what became of events of this batch; returns how many of them had no outcome before. */
  settle(outcome: Outcome | "elsewhere", events: readonly Event[] = this.events): number {
    const open = this.#settlements.open(events);
    this.#settlements.note(open, outcome);
    return open.length;
  }

  /**
   * Says that a store was found to have events of this batch; returns how many of them count as stored here. Where several
   * agents write, another one may have.
   */
  settleFound(events: readonly Event[]): number {
    const count = this.settle(this.isShared ? "elsewhere" : "stored", events);
    return this.isShared ? 0 : count;
  }

  /** What the sink of a plugin gets. */
  forSink(traceparent?: string): Batch {
    return new SinkBatch(this, this.position, traceparent);
  }

  #part(events: readonly Event[]): TakenBatch {
    return new TakenBatch(events, this.#whole, this.#transaction, this.#settlements, this.isPartial);
  }
}

/** A batch that a plugin can read and not change: its list belongs to the plugin and is frozen. */
class SinkBatch implements Batch {
  readonly events: readonly Event[];
  declare readonly position?: BatchPosition;
  declare readonly traceparent?: string;
  readonly idOf: (event: Event) => string;

  constructor(batch: TakenBatch, text: string | undefined, traceparent: string | undefined) {
    this.events = Object.freeze([...batch.events]);
    if (text !== undefined) {
      const shared = batch.isShared ? { shared: true } : {};
      const partial = batch.isPartial ? { partial: true } : {};
      this.position = Object.freeze({ text, ...shared, ...partial, coveredBy: (of: string) => batch.coveredBy(of) });
    }
    if (traceparent !== undefined) this.traceparent = traceparent;
    let own: ReadonlySet<Event> | undefined;
    const idOf = (event: Event) => {
      own ??= new Set(batch.events);
      if (own.has(event)) return batch.idOf(event);
      throw new AgentError(
        "EVENT_NOT_IN_BATCH",
        "naming an event that is not in the batch; give its object, not a copy",
        {
          retryable: false,
        },
      );
    };
    // Not in one step: V8 allocates a function that is written where a property is assigned in the old generation, and this one
    // would keep the events of the batch there until a full collection (decision 0197).
    this.idOf = idOf;
    Object.freeze(this);
  }
}

/** The same after a restart. */
function hashOf({ headers, body }: Event): string {
  const text = JSON.stringify([headers, body]);
  return createHash("sha256").update(text).digest("hex").slice(0, 12);
}

/** Settled events by the book of the channel in which they count. */
export function booksOf(
  events: readonly Event[],
  settlements: Pick<Settlements, "outcomeOf">,
): ReadonlyMap<keyof SettledEvents, readonly Event[]> {
  const books = new Map<keyof SettledEvents, Event[]>();
  for (const event of events) {
    const outcome = settlements.outcomeOf(event);
    if (outcome === undefined) continue;
    const book = outcome === "dead-lettered" ? "deadLettered" : outcome;
    books.set(book, [...(books.get(book) ?? []), event]);
  }
  return books;
}

/** What became of an event of a batch. */
type Outcome = "stored" | "dead-lettered" | "filtered";

/** How many events ended in each way. */
export type Settled = Readonly<Record<Outcome, number>>;

/**
 * What became of events that are still in their channel. A batch that was split and then abandoned goes back whole;
 * those of its events that are stored already must not be stored again when they are taken the next time.
 */
export class Settlements {
  #outcomes = new Outcomes();
  #ids = new EventNotes<string>();

  /** From now on the outcomes of both are the same: events move from one channel to the other. */
  join(other: Settlements): void {
    this.#outcomes = other.#outcomes;
    this.#ids = other.#ids;
  }

  /** Names an event for as long as it is in its channel, in this process. */
  idOf(event: Event): string {
    const known = this.#ids.get(event);
    if (known !== undefined) return known;
    const id = randomUUID();
    this.#ids.set(event, id);
    return id;
  }

  note(events: readonly Event[], outcome: Outcome | "elsewhere"): void {
    this.#outcomes.note(events, outcome);
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
  outcomeOf(event: Event): Outcome | "elsewhere" | undefined {
    return this.#outcomes.of(event);
  }

  /** By this agent or another one. */
  isStored(event: Event): boolean {
    const outcome = this.#outcomes.of(event);
    return outcome === "stored" || outcome === "elsewhere";
  }

  /** Events that another agent has stored. */
  elsewhere(events: readonly Event[]): number {
    return this.#outcomes.count(events).elsewhere;
  }

  count(events: readonly Event[]): Settled {
    const { elsewhere: _, ...settled } = this.#outcomes.count(events);
    return settled;
  }

  /** Forgets events that have left the channel. */
  close(events: readonly Event[]): void {
    this.#outcomes.forget(events);
    this.#ids.forget(events);
  }
}

/** The outcomes of events. */
class Outcomes {
  readonly #byEvent = new EventNotes<Outcome | "elsewhere">();
  /** Events with one outcome that are not noted one by one: most batches are stored in one write, and then leave the channel. */
  #whole: { readonly events: readonly Event[]; readonly outcome: Outcome | "elsewhere" } | undefined;

  get areNone(): boolean {
    return this.#whole === undefined && this.#byEvent.isEmpty;
  }

  note(events: readonly Event[], outcome: Outcome | "elsewhere"): void {
    if (this.areNone && events.length > 0) this.#whole = { events, outcome };
    else this.#oneByOne().setAll(events, outcome);
  }

  of(event: Event): Outcome | "elsewhere" | undefined {
    return this.#oneByOne().get(event);
  }

  count(events: readonly Event[]): Readonly<Record<Outcome | "elsewhere", number>> {
    const counts = { stored: 0, "dead-lettered": 0, filtered: 0, elsewhere: 0 };
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
  #oneByOne(): EventNotes<Outcome | "elsewhere"> {
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
