import { randomUUID } from "node:crypto";
import {
  AgentError,
  type Batch,
  codeOf,
  type Event,
  type Logger,
  type Receipt,
  reasonOf,
  retryAfterOf,
  retryableOf,
  type Sink,
} from "../sdk/index.js";
import type { Clock, TransactionObserver } from "../tokens.js";
import type { SinkCounters } from "./counters.js";
import type { DeadLetterReason, DeadLetters } from "./dead-letters.js";
import { logContext } from "./log-context.js";
import { letterHeader, withoutLetter } from "./replayed-letters.js";
import { wait } from "./wait.js";

/** An error that does not say whether it may pass is tried this often at the most, even when retries are endless. */
const mostRetriesOfUnknownErrors = 10;

/** A timer takes no more milliseconds than this. */
const longestTimer = 2 ** 31 - 1;

/** What became of an event of a batch. */
export type Outcome = "stored" | "dead-lettered" | "filtered";

export interface DeliveryOptions {
  /** Ends a wait for the next try at once, but not a write; the signal itself when absent. */
  readonly hurry?: AbortSignal;
  /** Told of events as soon as they are stored or kept as dead letters. */
  readonly settle?: (events: readonly Event[], outcome: Outcome) => void;
  /** Where the channel stands once this event and all before it are done; undefined for channels that forget. */
  readonly positionAt?: (event: Event) => string | undefined;
  /** The events that a position kept earlier covers. */
  readonly coveredBy?: (position: string) => readonly Event[];
}

export interface RetryPolicy {
  /** Retries after the first try; 0 none, -1 for ever. */
  readonly batchTtl: number;
  /** Milliseconds before the first, second, ... retry; the last repeats. */
  readonly batchRetryIntervals: readonly number[];
}

export interface DeliveryParts {
  readonly name: string;
  readonly sink: Pick<Sink, "persist" | "alreadyStored">;
  readonly retry: RetryPolicy;
  readonly deadLetters: DeadLetters;
  readonly counters: SinkCounters;
  readonly log: Logger;
  readonly clock: Clock;
  readonly observer?: TransactionObserver;
}

/**
 * Brings events to a sink: repeats what may pass, splits what can never go in until the bad event is alone, and keeps
 * as dead letters what is given up. When it resolves to true every event is stored or kept; to false, the signal
 * aborted first.
 */
export class SinkDelivery {
  readonly #parts: DeliveryParts;
  /** The failure that was last logged; the same one again is not news. */
  #failing: string | undefined;

  constructor(parts: DeliveryParts) {
    this.#parts = parts;
  }

  async deliver(events: readonly Event[], signal: AbortSignal, options: DeliveryOptions = {}): Promise<boolean> {
    const { hurry = signal, settle = () => {}, positionAt = () => undefined, coveredBy = () => [] } = options;
    return await this.#deliver(events, this.#parts.retry.batchTtl, { signal, hurry, settle, positionAt, coveredBy });
  }

  async #deliver(events: readonly Event[], retries: number, trip: Trip): Promise<boolean> {
    for (let attempt = 1; ; attempt += 1) {
      const failure = await this.#try(events, trip);
      if (failure === undefined) return true;
      if (trip.signal.aborted) return false;
      const retryable = retryableOf(failure.error);
      if (retryable === false) return await this.#giveUp(events, { failure, attempt, reason: "permanent" }, trip);
      if (!mayRetry(attempt, retries, retryable)) {
        return await this.#giveUp(events, { failure, attempt, reason: "retries-exhausted" }, trip);
      }
      if (!(await this.#pause(events, failure, attempt, trip.hurry))) return false;
    }
  }

  async #try(events: readonly Event[], trip: Trip): Promise<Failure | undefined> {
    const { name, sink, counters, log, clock, observer } = this.#parts;
    const attempt = { sink: name, events, startedAt: clock.now() };
    let receipt: Receipt;
    try {
      receipt = await sink.persist(batchOf(events, trip), trip.signal);
    } catch (error) {
      observer?.attempted({ ...attempt, finishedAt: clock.now(), receipt: undefined });
      return { error };
    }
    observer?.attempted({ ...attempt, finishedAt: clock.now(), receipt });
    counters.persisted += events.length;
    trip.settle(events, "stored");
    if (this.#failing !== undefined) log.info({ events: events.length }, "storing again");
    this.#failing = undefined;
    return undefined;
  }

  /** Logs a new failure once, then waits for the next try; false when the signal aborts. */
  async #pause(events: readonly Event[], failure: Failure, attempt: number, signal: AbortSignal): Promise<boolean> {
    const asked = Math.min(retryAfterOf(failure.error) ?? 0, longestTimer);
    const interval = Math.max(intervalOf(this.#parts.retry.batchRetryIntervals, attempt), asked);
    const reason = reasonOf(failure.error);
    const fields = { events: events.length, attempt, retryInMilliseconds: interval, reason, ...logContext(events) };
    if (reason === this.#failing) this.#parts.log.debug(fields, "batch not stored, will be retried");
    else this.#parts.log.warn(fields, "batch not stored, will be retried");
    this.#failing = reason;
    return await wait(interval, signal);
  }

  /** A batch is split so that its good events go in; a single event becomes a dead letter. */
  async #giveUp(events: readonly Event[], end: End, trip: Trip): Promise<boolean> {
    const known = retryableOf(end.failure.error) === true;
    if (events.length === 1 || known) {
      const lost = end.reason === "permanent" ? events : await this.#unstored(events, trip);
      if (trip.signal.aborted) return false;
      return lost.length === 0 || (await this.#keep(lost, end, trip));
    }
    const retries = end.reason === "permanent" ? this.#parts.retry.batchTtl : 0;
    const middle = Math.ceil(events.length / 2);
    if (!(await this.#deliver(events.slice(0, middle), retries, trip))) return false;
    return await this.#deliver(events.slice(middle), retries, trip);
  }

  /** What the sink cannot say is stored all the same: of a write that failed last, nobody knows the outcome. */
  async #unstored(events: readonly Event[], trip: Trip): Promise<readonly Event[]> {
    const { sink, counters, log } = this.#parts;
    try {
      const known = new Set(await sink.alreadyStored?.(batchOf(events, trip), trip.signal));
      const stored = events.filter((event) => known.has(event));
      if (stored.length === 0) return events;
      counters.persisted += stored.length;
      trip.settle(stored, "stored");
      log.info({ events: stored.length }, "given up, and found stored all the same");
      return events.filter((event) => !known.has(event));
    } catch (error) {
      const fields = { events: events.length, reason: reasonOf(error) };
      log.debug(fields, "what is stored of a batch that is given up cannot be read");
      return events;
    }
  }

  async #keep(events: readonly Event[], end: End, { hurry, settle }: Trip): Promise<boolean> {
    const { name, deadLetters, counters, log, clock } = this.#parts;
    const message = reasonOf(end.failure.error);
    const code = codeOf(end.failure.error);
    const letters = events.map((event) => ({
      id: event.headers[letterHeader] ?? randomUUID(),
      time: clock.now().toISOString(),
      sink: name,
      reason: end.reason,
      ...(code === undefined ? {} : { code }),
      message,
      attempts: end.attempt,
      event: withoutLetter(event),
    }));
    for (let attempt = 1; ; attempt += 1) {
      try {
        await deadLetters.keep(letters);
        break;
      } catch (error) {
        log.error({ events: events.length, reason: reasonOf(error) }, "dead letters not written, will be retried");
        if (!(await wait(intervalOf(this.#parts.retry.batchRetryIntervals, attempt), hurry))) return false;
      }
    }
    counters.deadLettered += events.length;
    settle(events, "dead-lettered");
    this.#parts.observer?.givenUp(name, events);
    const file = deadLetters.fileOf(name);
    const fields = { events: events.length, attempts: end.attempt, reason: message, file, ...logContext(events) };
    log.error(fields, "events kept as dead letters");
    return true;
  }
}

interface Trip extends Required<DeliveryOptions> {
  readonly signal: AbortSignal;
}

function batchOf(events: readonly Event[], { positionAt, coveredBy }: Trip): Batch {
  const last = events.at(-1);
  const position = last === undefined ? undefined : positionAt(last);
  if (position === undefined) return { events };
  const covered = (kept: string) => {
    const own = new Set(events);
    return coveredBy(kept).filter((event) => own.has(event));
  };
  return { events, position, coveredBy: covered };
}

interface Failure {
  readonly error: unknown;
}

interface End {
  readonly failure: Failure;
  readonly attempt: number;
  readonly reason: DeadLetterReason;
}

function mayRetry(attempt: number, retries: number, retryable: boolean | undefined): boolean {
  if (retryable === undefined && retries === -1) return attempt <= mostRetriesOfUnknownErrors;
  return retries === -1 || attempt <= retries;
}

/** Milliseconds before the retry after so many attempts. */
export function intervalOf(intervals: readonly number[], attempt: number): number {
  const interval = intervals[Math.min(attempt, intervals.length) - 1];
  if (interval === undefined) throw new AgentError("NO_RETRY_INTERVAL", "batch_retry_intervals must not be empty");
  return interval;
}
