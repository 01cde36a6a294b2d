import type { Event } from "./event.js";
import type { Lifecycle } from "./lifecycle.js";

/**
 * All events of one write, oldest first, for as many destinations as they name. The list is frozen: changing it throws a
 * TypeError, which is a failed write.
 */
export interface Batch {
  readonly events: readonly Event[];
  /**
   * Where a durable channel stands after this batch; absent for channels that forget. The part before the first colon
   * names the channel: a later position with the same name replaces an earlier one.
   */
  readonly position?: string;
  /**
   * The events of this batch that a position kept earlier covers: they were stored where it was kept. For a sink whose
   * destinations commit one after another and keep a position each. Absent for channels that forget.
   */
  coveredBy?(position: string): readonly Event[];
}

/** What one write cost. */
export interface Receipt {
  readonly requestBytes: number;
  readonly responseBytes: number;
}

/**
 * A writer and nothing else. The runner takes, batches, waits, repeats, splits a failed batch until the bad event is
 * alone, keeps dead letters and counts.
 */
export interface Sink extends Lifecycle {
  /**
   * Stores the batch: all of it or nothing. Throws an error with code `POSITION_CONFLICT` when somebody else has moved the
   * position that this sink keeps with the rows: then nothing of the batch is stored, and the events stay in the channel.
   * Throws an error with `retryable: true` when the store is away (the whole
   * batch is tried again later), `retryable: false` when this data will never go in (the batch is split). An error
   * without that property is retried to the limit and then dead-lettered (behind a durable channel see `answers`). On a repeated call the runner hands over
   * the same event objects.
   */
  persist(batch: Batch, signal: AbortSignal): Promise<Receipt>;
  /**
   * For a sink that gains from large writes: the most events of one batch. Where the channel forgets at a restart, the
   * runner then goes beyond the channel's transactionCapacity; without it that is the most a batch holds.
   */
  readonly largestBatch?: number | undefined;
  /**
   * For a sink to which many small writes are no harm: milliseconds that a batch which is not full waits for more events,
   * unless `batch_linger` says otherwise. Without it a batch waits as long as `batch_timeout` says.
   */
  readonly batchLinger?: number | undefined;
  /**
   * For a sink that keeps `Batch.position` in the same transaction as the data: every position it has kept. Read once
   * after start, before the first batch; what they cover is not delivered again. Throws when the store cannot tell now;
   * then nothing is delivered until it can; code `POSITION_CONFLICT` says that another agent writes there. A sink group goes on after a time without those that cannot tell.
   */
  storedPositions?(signal: AbortSignal): Promise<readonly string[]>;
  /**
   * The events of a batch that are stored although its write failed: of a part that was committed, or because only the
   * answer was lost. Asked before the events are given up or go to another sink. Throws when the store cannot tell now.
   */
  alreadyStored?(batch: Batch, signal: AbortSignal): Promise<readonly Event[]>;
  /**
   * Whether the store works while `persist` fails again and again with this error: true only when the error may be about
   * one of the events and the store takes other data now. Then the batch is split, and the event that still fails alone
   * becomes a dead letter. Without it, that is concluded from other events of the batch that are stored meanwhile.
   */
  answers?(error: unknown, signal: AbortSignal): Promise<boolean>;
  /**
   * For a sink that counts the events it stores in the transaction that keeps their position: the counts of this sink.
   * Asked by `deneb verify`.
   */
  storedSummary?(signal: AbortSignal): Promise<StoredSummary>;
}

/** What a store says it holds, to compare it with what the agent has counted. */
export interface StoredSummary {
  /** By the name of a channel, the part of its positions before the first colon: events stored with a position of it. */
  readonly channels: readonly { readonly channel: string; readonly events: number }[];
  /** For people. */
  readonly tables: readonly { readonly table: string; readonly rows: number }[];
}

/** Rows of a query, for people: every value as text, undefined for the store's null. */
export interface QueryResult {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | undefined)[])[];
}
