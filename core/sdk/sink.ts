import { type Event, letterHeader } from "./event.js";
import type { Lifecycle } from "./lifecycle.js";
import type { Examined } from "./probe.js";

/**
 * All events of one write, oldest first; they may belong to several tables. The list is frozen, and in a plugin of
 * others each event in depth: changing one throws a TypeError, and the write fails.
 * @stable
 */
export interface Batch {
  readonly events: readonly Event[];
  /** Absent for channels that forget. */
  readonly position?: BatchPosition;
  /** See {@link idOf}; absent only in a batch that a test makes by itself. */
  readonly idOf?: (event: Event) => string;
  /**
   * The `traceparent` of the delivery of this batch, for a request that carries events of several traces; absent while tracing
   * is off and for a batch without sampled notifications.
   * @beta
   */
  readonly traceparent?: string;
}

/**
 * Names an event of a batch, for a store that keeps the ids of what it has and leaves out what comes again. The text is the
 * same in every try, in a smaller batch, in each sink of a group, and when the event is replayed as a dead letter: it is the
 * id of that dead letter. Behind a durable channel it is also the same after a restart or a crash; behind one that forgets it
 * lasts until the event has left the channel. No other event has it. Throws `EVENT_NOT_IN_BATCH` for a copy of an event.
 * @stable
 */
export function idOf(batch: Batch, event: Event): string {
  if (batch.idOf !== undefined) return batch.idOf(event);
  const id = event.headers[letterHeader] ?? idsInTests.get(event) ?? crypto.randomUUID();
  idsInTests.set(event, id);
  return id;
}

const idsInTests = new WeakMap<Event, string>();

/** Where a durable channel stands after a batch. @stable */
export interface BatchPosition {
  /**
   * To be stored with the rows. The part before the first colon names the channel: a later position with the same name
   * replaces an earlier one.
   */
  readonly text: string;
  /**
   * True when several agents move this position, each in the transaction of its rows and only from the position that it
   * read: whoever finds that it has moved rolls back, reads it again and writes the events that it does not cover. A
   * position covers all events of its channel up to a place, so those are the last ones of the batch. See
   * `TakePositions.shared`.
   * @beta
   */
  readonly shared?: boolean;
  /**
   * True when events before the last one of this batch are not done, because the sink could not tell whether it has them
   * (`SinkPositions.alreadyStored`): the position may be stored only where none of these has its rows. @beta
   */
  readonly partial?: boolean;
  /**
   * The events of this batch that an earlier position covers: they were stored where it was kept. For a sink whose
   * destinations commit one after another and keep a position each.
   */
  coveredBy(text: string): readonly Event[];
}

/** What one write cost. @stable */
export interface Receipt {
  readonly requestBytes: number;
  readonly responseBytes: number;
  /**
   * Events of the batch that are stored and that another agent has written, behind a channel with shared positions: they count
   * as done and not as stored by this agent. Absent for none.
   * @beta
   */
  readonly elsewhere?: readonly Event[];
}

/**
 * Writes batches and nothing else. The runner takes, batches, waits, retries, splits a failed batch until the bad event is
 * alone, keeps dead letters and counts.
 * @stable
 */
export interface Sink extends Lifecycle, Examined {
  /**
   * Stores the batch: all of it or nothing, unless its error says which events failed. Rejects with `retryable: true` when the store is not available (the whole
   * batch is retried later), with `retryable: false` when the store will never accept this data (the batch is split). An
   * error without that property is retried up to the limit, then its events become dead letters (behind a durable channel
   * see `answers`). An {@link AgentError} with `events` names the events that failed: all others are stored, and only the
   * named ones are written again or become dead letters. What must not overtake a failed event, such as a later one of the
   * same entity, is not written and named with it. Rejects with code `POSITION_CONFLICT` when another agent has moved the stored position: then nothing of
   * the batch is stored, and the events stay in the channel. A repeated call gets the same event objects.
   */
  persist(batch: Batch, signal: AbortSignal): Promise<Receipt>;
  /** How the runner forms batches for this sink. Read once, when the sink is created. */
  readonly tuning?: SinkTuning;
  /** For a sink that stores `Batch.position` in the transaction of the data, or knows what a failed write stored. */
  readonly positions?: SinkPositions;
  /**
   * Whether the store works although `persist` keeps failing with this error: true only when the error may concern one of
   * the events and the store accepts other data now. Then the batch is split, and an event that fails alone becomes a dead
   * letter. False: the error says nothing about an event, and the batch is retried as a whole. Undefined, or without this
   * member, the runner concludes it from other events of the batch that are stored meanwhile. A {@link TakesOthers} says
   * more than true: that the store was seen to take other events.
   */
  answers?(error: unknown, signal: AbortSignal): Promise<StoreAnswer>;
}

/**
 * The store takes other events now. `lasting`: the error stays with the event, which becomes a dead letter as one that is
 * refused. `passing`: it may pass, such as a missing right to one table; then the dead letter is replayed by itself, as one
 * whose retries are used up.
 * @beta
 */
export type TakesOthers = "lasting" | "passing";

/** What a sink says of its store after an error. @beta */
export type StoreAnswer = boolean | TakesOthers | undefined;

/** Hints of a sink about the size of batches; absent members leave the defaults. @stable */
export interface SinkTuning {
  /**
   * Most events of one batch, for a sink that gains from large writes. Behind a channel that forgets at a restart a batch
   * may then exceed the channel's transactionCapacity; without it a batch never does.
   */
  readonly largestBatch?: number;
  /**
   * Milliseconds that a batch which is not full waits for more events, unless `batch_linger` is set; for a sink that
   * handles many small writes well. `under-load`: none while few events come; while more than 500 come in a second, a moment in
   * which more of them do. Without it a batch waits as long as `batch_timeout` says.
   */
  readonly batchLinger?: number | "under-load";
}

/** What a sink can report of the data that it stored. @stable */
export interface SinkPositions {
  /**
   * Every position that is stored; absent for a sink that stores none. Called after start, before the first batch; events that the positions cover are not
   * delivered again. Rejects while the store cannot be read; nothing is delivered until it can. Code `POSITION_CONFLICT`
   * means that another agent writes there. A sink group continues after a time without the sinks that do not answer.
   */
  stored?(signal: AbortSignal): Promise<readonly string[]>;
  /**
   * The events of a batch that are stored although its write failed: a part was committed, or only the answer was lost.
   * Called before the events become dead letters or go to another sink, and before the first write of events that the
   * channel may have delivered before (`TakeTransaction.isRedelivered`). Rejects while the store cannot be read. Where only some
   * of its destinations cannot be read, and each keeps positions of its own, the error names in `events` all events of the
   * batch for these: behind a channel that agents share, or that says `holdsApart`, the others are written meanwhile
   * (`BatchPosition.partial`).
   */
  alreadyStored?(batch: Batch, signal: AbortSignal): Promise<readonly Event[]>;
  /**
   * Where it counts, without secrets, such as `postgresql db:5432 history`; absent when the sink does not count now. Counts in
   * another place begin at 0 for `deneb verify`.
   */
  readonly place?: string;
  /** The events that the sink has counted in the transactions of their positions, for `deneb verify`. */
  summary?(signal: AbortSignal): Promise<StoredSummary>;
}

/** What a store holds, to be compared with what the agent has counted. @stable */
export interface StoredSummary {
  /**
   * By the name of a channel, the part of its positions before the first colon: events stored with a position of it. Absent
   * when the sink does not count now.
   */
  readonly channels?: readonly { readonly channel: string; readonly events: number }[];
  /** For people. Without `rows` where they were not counted: the table is locked, or too large to be counted in time. */
  readonly tables: readonly { readonly table: string; readonly rows?: number }[];
}

/** Rows of a query, for people: every value as text, undefined for the store's null. @stable */
export interface QueryResult {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | undefined)[])[];
}

/**
 * Decides which sink of a group gets the next batch. `order` is called for every attempt: the first sink of its result
 * gets the batch, the next one when that fails, and so on; when all fail, the batch waits and `order` is called again.
 * @stable
 */
export interface SinkProcessor {
  /** The sinks to try, best first: each of the given names once at the most, none that is not given. */
  order(sinks: readonly string[]): readonly string[];
  /** The sink stored a batch. When a sink refuses the data, neither this nor `failed` is called. */
  succeeded(sink: string): void;
  /** The sink could not be used: its store is not available, or it threw an error that does not say whether to retry. */
  failed(sink: string): void;
}

/**
 * What a sink would do with one event if its store were empty. Texts are as they would be sent; no secret is in them.
 * @stable
 */
export interface Explanation {
  readonly writes: readonly ExplainedWrite[];
  /** Everything that would be sent, in order: first what creates schemas and tables, then what writes rows. */
  readonly statements: readonly ExplainedStatement[];
  /** Names that are not stored as they came, and why; one sentence each. */
  readonly notes: readonly string[];
}

/** Where a part of an event is stored, and what is stored. @stable */
export interface ExplainedWrite {
  /** The parts of the destination, outermost first: `{ schema: "openiot", table: "room_1" }`. */
  readonly destination: Readonly<Record<string, string>>;
  readonly columns: readonly string[];
  /** Each as long as `columns`; undefined for the store's null. */
  readonly rows: readonly (readonly (string | undefined)[])[];
}

/** One text as it goes to the store, and its parameters. */
export interface ExplainedStatement {
  readonly text: string;
  readonly parameters: readonly (string | undefined)[];
}
