import { eventsOf } from "../../sdk/errors.js";
import { FailureLog } from "../../sdk/failure-log.js";
import { type Event, type Logger, letterHeader, reasonOf } from "../../sdk/index.js";
import type { Clock, TransactionObserver } from "../../tokens.js";
import type { SinkCounters } from "../counters.js";
import { readableLetter } from "../dead-letters/dead-letter.js";
import type { DeadLetter, DeadLetterReason, DeadLetters } from "../dead-letters/dead-letters.js";
import type { Erasures } from "../erasures.js";
import { FailureState } from "../failure-state.js";
import { logContext } from "../log-context.js";
import { errorOf } from "./named-failure.js";
import { intervalOf, type RetryPolicy, wait } from "./retry-policy.js";
import { type Course, GivenBack, type StoreQuestions } from "./stage.js";
import { type TakenBatch, withoutErased } from "./taken-batch.js";

interface DeadLetterKeeperParts {
  /** Of the sink or the group: its dead letters are kept under it. */
  readonly name: string;
  readonly retry: RetryPolicy;
  /** Asked before events become dead letters because their retries are used up. */
  readonly store: Pick<StoreQuestions, "alreadyStored">;
  readonly deadLetters: DeadLetters;
  /** Tells which events were erased while they waited. */
  readonly erasures?: Pick<Erasures, "erasedAmong">;
  readonly counters: SinkCounters;
  readonly log: Logger;
  readonly clock: Clock;
  readonly observer?: TransactionObserver;
}

/** Why events are not tried any more. */
interface End {
  readonly error: unknown;
  readonly attempts: number;
  readonly reason: DeadLetterReason;
}

type KeptCourse = Pick<Course, "signal" | "hurry" | "trace">;

/** The longest pause before events go back that other agents get, which wait for this one to let go of them. */
const LEAVING_MILLIS = 250;

/** Keeps events of one sink as dead letters and settles them. */
export class DeadLetterKeeper {
  /** Whether dead letters can be kept. */
  readonly health: FailureState;
  readonly #parts: DeadLetterKeeperParts;
  readonly #failures: FailureLog;
  readonly #keeping = new Set<Promise<void>>();

  constructor(parts: DeadLetterKeeperParts) {
    this.#parts = parts;
    this.#failures = new FailureLog(parts.log, "dead letters are written again");
    this.health = new FailureState(parts.clock);
  }

  /** Resolves when what is being kept now is kept, or will not be. */
  async idle(): Promise<void> {
    await Promise.allSettled(this.#keeping);
  }

  /**
   * Resolves when the letters are on disk; rejects when the delivery ends before that, or events that may be stored are given back instead.
   */
  async keep(batch: TakenBatch, end: End, course: KeptCourse): Promise<void> {
    const kept = this.#kept(batch, end, course);
    this.#keeping.add(kept);
    try {
      await kept;
    } finally {
      this.#keeping.delete(kept);
    }
  }

  async #kept(batch: TakenBatch, end: End, course: KeptCourse): Promise<void> {
    const { signal } = course;
    // What is refused here another agent may have stored, to which this one has lost the part.
    const isCertain = end.reason === "permanent" && !batch.isShared;
    const lost = isCertain ? batch : await this.#unstored(batch, signal);
    if (signal.aborted) throw end.error;
    if (lost.events.length > 0 && lost.isLeaving) return await this.#leaveToOthers(lost.events.length, end, course);
    const doubted = isCertain ? [] : lost.events.filter((event) => lost.isDoubted(event));
    const certain = doubted.length === 0 ? lost : lost.apartFrom(doubted);
    if (certain.events.length > 0) await this.#keep(certain, end, course);
    if (doubted.length > 0) await this.#leaveInDoubt(doubted.length, end, course);
  }

  /** Others may be storing them at this moment, behind the question of what is stored. */
  async #leaveToOthers(events: number, end: End, course: KeptCourse): Promise<never> {
    const fields = { events, reason: reasonOf(end.error) };
    this.#parts.log.info(fields, "events that other agents get now become no dead letters here");
    return await this.#giveBack(end, course, LEAVING_MILLIS);
  }

  /** Only the store knows whether they are stored: they go back into their channel after the pause before a next try. */
  async #leaveInDoubt(events: number, end: End, course: KeptCourse): Promise<never> {
    const message = "events whose commit was not answered wait until the store can tell whether it has them";
    this.#parts.log.warn({ events, reason: reasonOf(end.error) }, message);
    return await this.#giveBack(end, course);
  }

  async #giveBack({ error, attempts }: End, { hurry }: KeptCourse, longest = Number.POSITIVE_INFINITY): Promise<never> {
    const pause = Math.min(intervalOf(this.#parts.retry, attempts), longest);
    throw (await wait(pause, hurry)) ? new GivenBack(error) : error;
  }

  /**
   * A write that failed may be committed, as a whole or in a part of its databases, or that of another agent is. What the store cannot tell
   * counts as not stored, unless the answer to its own commit was lost.
   */
  async #unstored(batch: TakenBatch, signal: AbortSignal): Promise<TakenBatch> {
    const { store, counters, log } = this.#parts;
    for (let asked = batch; asked.events.length > 0; ) {
      try {
        const stored = await store.alreadyStored(asked, signal);
        if (stored.length === 0) break;
        counters.persisted += asked.settleFound(stored);
        log.info({ events: stored.length }, "events that were to become dead letters are stored nevertheless");
        break;
      } catch (error) {
        const fields = { events: asked.events.length, reason: reasonOf(error) };
        log.debug(fields, "cannot read what is stored of events that become dead letters");
        asked = othersThan(error, asked);
      }
    }
    return batch.open();
  }

  async #keep(
    batch: TakenBatch,
    { error, attempts, reason }: End,
    { signal, hurry, trace }: KeptCourse,
  ): Promise<void> {
    const { name, deadLetters, erasures, counters, log, clock, observer } = this.#parts;
    const letterOf = (event: Event, sink: string): DeadLetter =>
      readableLetter({
        id: batch.idOf(event),
        time: clock.now().toISOString(),
        sink,
        reason,
        ...errorOf(error, event),
        attempts,
        event,
      });
    let open: TakenBatch;
    for (let attempt = 1; ; attempt += 1) {
      // Letters may wait for room as long as events for their store.
      open = withoutErased(batch, erasures, log);
      if (open.events.length === 0) return this.health.works();
      try {
        for (const [sink, own] of await this.#byHolder(open.events)) {
          const letters = own.map((event) => letterOf(event, sink));
          await deadLetters.keep(letters, signal);
        }
        this.health.works();
        this.#failures.works();
        break;
      } catch (cause) {
        this.health.failed(cause);
        const line = { message: "dead letters not written, will be retried", fields: { events: open.events.length } };
        this.#failures.failed("error", cause, line);
        if (!(await wait(intervalOf(this.#parts.retry, attempt), hurry))) throw cause;
        // Others may have stored them, or do so, while this agent cannot say that they are dead letters.
        if (open.isLeaving) throw new GivenBack(cause);
      }
    }
    const { events } = open;
    counters.deadLettered += open.settle("dead-lettered");
    observer?.givenUp(name, events);
    trace?.deadLettered(events.length, error);
    const file = deadLetters.fileOf(name);
    const fields = {
      events: events.length,
      attempts,
      reason: reasonsOf(error, events),
      file,
      ...logContext(events),
      ...trace?.fields,
    };
    log.error(fields, "events kept as dead letters");
  }

  /** A replayed event goes back to its letter, which another sink of the same channel may have kept. */
  async #byHolder(events: readonly Event[]): Promise<ReadonlyMap<string, readonly Event[]>> {
    const { name, deadLetters } = this.#parts;
    const holders = new Map<string, Event[]>();
    for (const event of events) {
      const letter = event.headers[letterHeader];
      const holder = (letter === undefined ? undefined : await deadLetters.holder(letter)) ?? name;
      const own = holders.get(holder) ?? [];
      own.push(event);
      holders.set(holder, own);
    }
    return holders;
  }
}

/** Why these are dead letters: others of their batch may have failed for another reason, and are tried again. */
function reasonsOf(error: unknown, events: readonly Event[]): string {
  const [first = reasonOf(error), ...others] = new Set(events.map((event) => errorOf(error, event).message));
  return others.length === 0 ? first : `${first} (other reasons, in the dead letters: ${others.length})`;
}

/** Those that an error does not name, as the rows of another database: of these the store can tell. None where it names no events. */
function othersThan(error: unknown, asked: TakenBatch): TakenBatch {
  const named = eventsOf(error);
  const others = Array.isArray(named) ? asked.apartFrom(asked.only(named).events) : asked;
  return others.events.length < asked.events.length ? others : asked.only([]);
}
