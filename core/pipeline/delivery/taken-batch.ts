import { createHash } from "node:crypto";
import {
  AgentError,
  type Batch,
  type BatchPosition,
  type Event,
  type Logger,
  letterHeader,
  type TakeTransaction,
} from "../../sdk/index.js";
import type { Erasures } from "../erasures.js";
import { bookOf, type Settlements, type SharedOutcome } from "./settlements.js";

/** The members of a transaction that a batch asks. */
export type TakenFrom = Pick<TakeTransaction, "positions" | "isRedelivered" | "leave">;

/** What all parts of a batch have in common. */
interface Taken {
  /** Everything that the transaction took, in order. */
  readonly whole: readonly Event[];
  readonly transaction: TakenFrom;
  readonly settlements: Settlements;
}

/** All that a transaction took, or a part of it, on its way to a sink. */
export class TakenBatch {
  /** Those to be delivered. */
  readonly events: readonly Event[];
  readonly #taken: Taken;
  /** Events before its last one are not done and not in it. */
  readonly isPartial: boolean;

  constructor(events: readonly Event[], taken: Taken, isPartial = false) {
    this.events = events;
    this.#taken = taken;
    this.isPartial = isPartial;
  }

  /** True when several agents move the positions of the channel. */
  get isShared(): boolean {
    return this.#taken.transaction.positions?.shared === true;
  }

  /** True once other agents get its events. */
  get isLeaving(): boolean {
    return this.#taken.transaction.positions?.leaving === true;
  }

  /** Whether a part of the events may be done before older ones. */
  get mayLeave(): boolean {
    return this.#taken.transaction.leave !== undefined;
  }

  /** Where the channel stands once the last event of this batch and all before it are done; undefined for channels that forget. */
  get position(): string | undefined {
    const last = this.events.at(-1);
    const { whole, transaction, settlements } = this.#taken;
    return last === undefined
      ? undefined
      : transaction.positions?.after(whole.lastIndexOf(last) + 1, (event) => bookOf(event, settlements));
  }

  /** The events of this batch that a position covers that was stored earlier. */
  coveredBy(position: string): readonly Event[] {
    const covered = this.#taken.transaction.positions?.coveredBy(position) ?? [];
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
    const inChannel = this.#taken.transaction.positions?.idOf(event);
    return inChannel === undefined ? this.#taken.settlements.idOf(event) : `${inChannel}-${hashOf(event)}`;
  }

  /** The events that the store may have; the batch itself if those are all. */
  possiblyStored(): TakenBatch {
    const again = this.events.filter((event) => this.mayBeStored(event));
    return again.length === this.events.length ? this : this.#part(again);
  }

  /** True for an event that may have been delivered before, perhaps by another agent. */
  isRedelivered(event: Event): boolean {
    return this.#taken.transaction.isRedelivered?.(event) === true;
  }

  /** True for an event that was delivered before, or may have been, and of which the store has not told whether it has it. */
  mayBeStored(event: Event): boolean {
    return this.isRedelivered(event) || this.isDoubted(event);
  }

  /** True for an event of which a write failed that may have stored it. */
  isDoubted(event: Event): boolean {
    return this.#taken.settlements.isDoubted(event);
  }

  /**
   * A write of the batch failed, and may have stored it. Only behind a channel with positions is there a way to know later; a dead letter that
   * is replayed is kept with its row.
   */
  doubt(): void {
    const { transaction, settlements } = this.#taken;
    if (transaction.positions === undefined) return;
    settlements.doubt(this.events.filter(({ headers }) => headers[letterHeader] === undefined));
  }

  /** The store has told which of the events it has. */
  told(): void {
    this.#taken.settlements.told(this.events);
  }

  /** The events of which a letter was written elsewhere; those that are replayed have one in any case. */
  withLetters(letters: { has(idInChannel: string): boolean }): readonly Event[] {
    const { positions } = this.#taken.transaction;
    if (positions === undefined) return [];
    return this.events.filter((event) => {
      const id = event.headers[letterHeader] === undefined ? positions.idOf(event) : undefined;
      return id !== undefined && letters.has(id);
    });
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
    return new TakenBatch(others, this.#taken, true);
  }

  /** The events that are not settled; the batch itself if those are all. */
  open(): TakenBatch {
    const open = this.#taken.settlements.open(this.events);
    return open === this.events ? this : this.#part(open);
  }

  /** Says what became of events of this batch; returns how many of them had no outcome before. */
  settle(outcome: SharedOutcome, events: readonly Event[] = this.events): number {
    const open = this.#taken.settlements.open(events);
    this.#taken.settlements.note(open, outcome);
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

  /**
   * Says that the sink left events out because others have stored them; returns how many had no outcome before. Of a replayed dead letter that
   * nobody else was given it was an earlier replay.
   */
  settleLeftOut(events: readonly Event[]): number {
    const before = events.filter((event) => event.headers[letterHeader] !== undefined && !this.isRedelivered(event));
    return this.settle("stored-before", before) + this.settle("elsewhere", events);
  }

  /** What the sink of a plugin gets. */
  forSink(traceparent?: string): Batch {
    return new SinkBatch(this, this.position, traceparent);
  }

  #part(events: readonly Event[]): TakenBatch {
    return new TakenBatch(events, this.#taken, this.isPartial);
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
    // would keep the events of the batch there until a full collection (decision 0086).
    this.idOf = idOf;
    Object.freeze(this);
  }
}

/** A name that is the same after a restart. */
function hashOf({ headers, body }: Event): string {
  const text = JSON.stringify([headers, body]);
  return createHash("sha256").update(text).digest("hex").slice(0, 12);
}

/** The events of a batch that are not settled, without those that were erased while they waited. */
export function withoutErased(
  batch: TakenBatch,
  erasures: Pick<Erasures, "erasedAmong"> | undefined,
  log: Logger,
): TakenBatch {
  const open = batch.open();
  const erased = erasures?.erasedAmong(open.events) ?? [];
  if (erased.length === 0) return open;
  const count = batch.settle("filtered", erased);
  log.info({ events: count }, "erased events are left out");
  return batch.open();
}
