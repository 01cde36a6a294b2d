import { randomUUID } from "node:crypto";
import { codeOf, type Logger, reasonOf } from "../../sdk/index.js";
import type { Clock, TransactionObserver } from "../../tokens.js";
import type { SinkCounters } from "../counters.js";
import type { DeadLetterReason, DeadLetters } from "../dead-letters.js";
import { FailureState } from "../failure-state.js";
import { logContext } from "../log-context.js";
import { letterHeader } from "../replayed-letters.js";
import { wait } from "../wait.js";
import { readableLetter } from "./letter-event.js";
import { intervalOf, type RetryPolicy } from "./retry-policy.js";
import type { Course } from "./stage.js";
import type { StoreQuestions } from "./store-questions.js";
import type { TakenBatch } from "./taken-batch.js";

export interface DeadLetterKeeperParts {
  /** Of the sink or the group: its dead letters are kept under it. */
  readonly name: string;
  readonly retry: RetryPolicy;
  /** Asked before events become dead letters because their retries are used up. */
  readonly store: Pick<StoreQuestions, "alreadyStored">;
  readonly deadLetters: DeadLetters;
  readonly counters: SinkCounters;
  readonly log: Logger;
  readonly clock: Clock;
  readonly observer?: TransactionObserver;
}

/** Why events are not tried any more. */
export interface End {
  readonly error: unknown;
  readonly attempts: number;
  readonly reason: DeadLetterReason;
}

/** Keeps events of one sink as dead letters and settles them. */
export class DeadLetterKeeper {
  /** Whether dead letters can be kept. */
  readonly health: FailureState;
  readonly #parts: DeadLetterKeeperParts;

  constructor(parts: DeadLetterKeeperParts) {
    this.#parts = parts;
    this.health = new FailureState(parts.clock);
  }

  /** Resolves when the letters are on disk; rejects when the delivery ends before that. */
  async keep(batch: TakenBatch, end: End, { signal, hurry }: Pick<Course, "signal" | "hurry">): Promise<void> {
    const lost = end.reason === "permanent" ? batch : await this.#unstored(batch, signal);
    if (signal.aborted) throw end.error;
    if (lost.events.length > 0) await this.#keep(lost, end, hurry);
  }

  /** A write that failed may be committed. What the store cannot tell counts as not stored. */
  async #unstored(batch: TakenBatch, signal: AbortSignal): Promise<TakenBatch> {
    const { store, counters, log } = this.#parts;
    try {
      const stored = await store.alreadyStored(batch, signal);
      if (stored.length === 0) return batch;
      counters.persisted += batch.settle("stored", stored);
      log.info({ events: stored.length }, "retries are used up, and events are found stored all the same");
      return batch.open();
    } catch (error) {
      const fields = { events: batch.events.length, reason: reasonOf(error) };
      log.debug(fields, "cannot read what is stored of a batch whose retries are used up");
      return batch;
    }
  }

  async #keep(batch: TakenBatch, { error, attempts, reason }: End, hurry: AbortSignal): Promise<void> {
    const { name, deadLetters, counters, log, clock, observer } = this.#parts;
    const { events } = batch;
    const message = reasonOf(error);
    const code = codeOf(error);
    const derived = batch.idsFor(name);
    const letters = events.map((event) =>
      readableLetter({
        id: event.headers[letterHeader] ?? derived.get(event) ?? randomUUID(),
        time: clock.now().toISOString(),
        sink: name,
        reason,
        ...(code === undefined ? {} : { code }),
        message,
        attempts,
        event,
      }),
    );
    for (let attempt = 1; ; attempt += 1) {
      try {
        await deadLetters.keep(letters, new Set(derived.values()));
        this.health.works();
        break;
      } catch (cause) {
        this.health.failed(cause);
        log.error({ events: events.length, reason: reasonOf(cause) }, "dead letters not written, will be retried");
        if (!(await wait(intervalOf(this.#parts.retry, attempt), hurry))) throw cause;
      }
    }
    counters.deadLettered += batch.settle("dead-lettered");
    observer?.givenUp(name, events);
    const file = deadLetters.fileOf(name);
    const fields = { events: events.length, attempts, reason: message, file, ...logContext(events) };
    log.error(fields, "events kept as dead letters");
  }
}
