import { FailureLog } from "../../sdk/failure-log.js";
import { type Event, type Logger, type Receipt, retryableOf } from "../../sdk/index.js";
import type { SinkCounters } from "../counters.js";
import { intervalOf, type RetryPolicy, wait } from "./retry-policy.js";
import { type Course, isPositionFault, nothingSent, type Stage, type StoreQuestions } from "./stage.js";
import type { TakenBatch } from "./taken-batch.js";

export interface RedeliveredParts {
  readonly store: Pick<StoreQuestions, "alreadyStored">;
  readonly retry: RetryPolicy;
  readonly counters: SinkCounters;
  readonly log: Logger;
}

/**
 * Sees to it that events which a channel may have delivered before are not stored twice: asks the store which of them it
 * has before anything is written. While the store cannot tell, the batch waits. An event that it refuses even to be asked of
 * counts as not stored: it is written like any other, and what the store refuses there becomes a dead letter.
 */
export class Redelivered implements Stage {
  readonly name = "redelivered";
  /** The reason that was last logged; the same one again is not news. */
  readonly #failures: FailureLog;

  constructor(
    private readonly parts: RedeliveredParts,
    readonly next: Stage,
  ) {
    this.#failures = new FailureLog(parts.log, "which redelivered events are stored already is read again");
  }

  async deliver(batch: TakenBatch, course: Course): Promise<Receipt> {
    const again = batch.redelivered();
    if (again.events.length === 0) return await this.next.deliver(batch, course);
    const { counters, log } = this.parts;
    const stored = await this.#stored(again, course);
    counters.persisted += batch.settleFound(stored);
    if (stored.length > 0) log.info({ events: stored.length }, "events that are stored already are left out");
    const open = batch.open();
    return open.events.length === 0 ? nothingSent : await this.next.deliver(open, course);
  }

  /** Throws when the delivery ends before the store can tell. */
  async #stored(again: TakenBatch, course: Course): Promise<readonly Event[]> {
    const { store, retry } = this.parts;
    const { signal, hurry } = course;
    for (let attempt = 1; ; attempt += 1) {
      try {
        const stored = await store.alreadyStored(again, signal);
        this.#failures.works();
        return stored;
      } catch (error) {
        if (signal.aborted) throw error;
        if (retryableOf(error) === false && !isPositionFault(error)) return await this.#halved(again, course);
        this.#report(error);
        if (!(await wait(intervalOf(retry, attempt), hurry))) throw error;
      }
    }
  }

  async #halved(again: TakenBatch, course: Course): Promise<readonly Event[]> {
    if (again.events.length === 1) return [];
    const [first, second] = again.split();
    return [...(await this.#stored(first, course)), ...(await this.#stored(second, course))];
  }

  #report(error: unknown): void {
    const message = "which redelivered events are stored already cannot be read, will be tried again";
    this.#failures.failed("warn", error, { message });
  }
}
