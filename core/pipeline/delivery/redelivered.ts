import { eventsOf } from "../../sdk/errors.js";
import { FailureLog } from "../../sdk/failure-log.js";
import { type Event, type Logger, type Receipt, retryableOf } from "../../sdk/index.js";
import type { SinkCounters } from "../counters.js";
import type { DeadLetterKeeper } from "./dead-letter-keeper.js";
import { isPositionFault } from "./kinds-of-failure.js";
import { intervalOf, type RetryPolicy, wait } from "./retry-policy.js";
import { type Course, HeldBack, nothingSent, type Stage, type StoreQuestions } from "./stage.js";
import type { TakenBatch } from "./taken-batch.js";

/** So often, at the intervals of retries, the sink cannot tell before an event that nobody had before becomes a dead letter. */
const MOST_TRIES = 3;
/** The longest pause before the sink is asked again of what is held back: what comes meanwhile waits, too. */
export const PAUSE_MILLIS = 250;
/** So long after events were held back an answer about others is no news. */
const FORGOTTEN_MILLIS = 5000;

/** What a stage needs that asks a store which events it has. */
export interface AskingParts {
  readonly keeper: Pick<DeadLetterKeeper, "keep">;
  readonly store: Pick<StoreQuestions, "alreadyStored">;
  readonly retry: RetryPolicy;
  readonly counters: SinkCounters;
  readonly log: Logger;
}

/**
 * Sees to it that events which a channel may have delivered before are not stored twice: asks the store which of them it
 * has before anything is written. While the store cannot tell, the batch waits. An event that it refuses even to be asked of
 * counts as not stored: it is written like any other, and what the store refuses there becomes a dead letter.
 *
 * Where the sink names the events of which it cannot tell, and agents share the channel, only these are held back: the others
 * are written with a position that does not say it of the channel as a whole, and leave the channel before them.
 */
export class Redelivered implements Stage {
  readonly name = "redelivered";
  readonly next: Stage;
  readonly #parts: AskingParts;
  /** The reason that was last logged; the same one again is not news. */
  readonly #failures: FailureLog;
  readonly #tries = new WeakMap<Event, Tries>();
  #heldAt = Number.NEGATIVE_INFINITY;

  constructor(parts: AskingParts, next: Stage) {
    this.#parts = parts;
    this.next = next;
    this.#failures = new FailureLog(parts.log, "which redelivered events are stored already is read again");
  }

  async deliver(batch: TakenBatch, course: Course): Promise<Receipt> {
    const again = batch.redelivered();
    if (again.events.length === 0) return await this.next.deliver(batch, course);
    try {
      return await this.#others(batch, again, course);
    } catch (error) {
      if (!(error instanceof Untold)) throw error;
      return await this.#apart(batch, course);
    }
  }

  /** Writes what of these events is not stored. */
  async #others(batch: TakenBatch, asked: TakenBatch, course: Course): Promise<Receipt> {
    const { counters, log } = this.#parts;
    const stored = asked.events.length === 0 ? [] : await this.#stored(asked, course);
    counters.persisted += batch.settleFound(stored);
    if (stored.length > 0) log.info({ events: stored.length }, "events that are stored already are left out");
    const open = batch.open();
    return open.events.length === 0 ? nothingSent : await this.next.deliver(open, course);
  }

  /**
   * Of what nobody had before the sink is asked, too: in a place of which it cannot tell nothing may be stored before what is older
   * there. Throws what gives the rest back, unless the sink can tell meanwhile.
   */
  async #apart(batch: TakenBatch, course: Course): Promise<Receipt> {
    try {
      return await this.#others(batch, batch, course);
    } catch (error) {
      if (!(error instanceof Untold)) throw error;
      const held = batch.only(error.events);
      try {
        const others = batch.apartFrom(held.events);
        await this.#others(others, others.redelivered(), course);
      } catch (other) {
        if (!(other instanceof Untold)) throw other;
      }
      const pause = Math.min(intervalOf(this.#parts.retry, 1), PAUSE_MILLIS);
      await this.#giveUp(held, { error: error.cause, pause }, course);
      if (!(await wait(pause, course.hurry))) throw error.cause;
      throw new HeldBack(error.cause, batch.open().events.length);
    }
  }

  /** What nobody had before is not stored: it need not wait. */
  async #giveUp(held: TakenBatch, { error, pause }: Refusal, course: Course): Promise<void> {
    const attempts = MOST_TRIES;
    const given = held.events.filter((event) => this.#tried(event, pause) >= attempts && !held.isRedelivered(event));
    if (given.length > 0)
      await this.#parts.keeper.keep(held.only(given), { error, attempts, reason: "retries-exhausted" }, course);
  }

  /** The number of tries, as far apart as those of other events, although the sink is asked more often. */
  #tried(event: Event, pause: number): number {
    const { count, left } = this.#tries.get(event) ?? { count: 0, left: 0 };
    const isTry = left <= 0;
    const tries = isTry ? count + 1 : count;
    this.#tries.set(event, { count: tries, left: (isTry ? intervalOf(this.#parts.retry, tries) : left) - pause });
    return tries;
  }

  /** Throws when the delivery ends before the store can tell. */
  async #stored(again: TakenBatch, course: Course): Promise<readonly Event[]> {
    const { store, retry } = this.#parts;
    const { signal, hurry } = course;
    for (let attempt = 1; ; attempt += 1) {
      try {
        const stored = await store.alreadyStored(again, signal);
        this.#works();
        return stored;
      } catch (error) {
        if (signal.aborted) throw error;
        if (retryableOf(error) === false && !isPositionFault(error)) return await this.#halved(again, course);
        this.#report(error);
        this.#throwUntold(again, error);
        if (!(await wait(intervalOf(retry, attempt), hurry))) throw error;
      }
    }
  }

  #throwUntold({ isShared }: TakenBatch, error: unknown): void {
    const untold = isShared ? eventsOf(error) : undefined;
    if (!Array.isArray(untold)) return;
    this.#heldAt = performance.now();
    throw new Untold(error, untold);
  }

  #works(): void {
    if (performance.now() - this.#heldAt > FORGOTTEN_MILLIS) this.#failures.works();
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

/** How often the sink could not tell of an event. */
interface Tries {
  readonly count: number;
  /** Milliseconds until the next time counts. */
  readonly left: number;
}

interface Refusal {
  readonly error: unknown;
  /** Milliseconds until the sink is asked again. */
  readonly pause: number;
}

/** The sink cannot tell of these events. */
class Untold extends Error {
  readonly events: readonly Event[];

  constructor(cause: unknown, events: readonly Event[]) {
    super("the sink cannot tell which events it has", { cause });
    this.events = events;
  }
}
