import { eventsOf } from "../../sdk/errors.js";
import { FailureLog } from "../../sdk/failure-log.js";
import { type Event, type Logger, type Receipt, retryableOf } from "../../sdk/index.js";
import type { Clock } from "../../tokens.js";
import type { SinkCounters } from "../counters.js";
import type { FailureState } from "../failure-state.js";
import type { DeadLetterKeeper } from "./dead-letter-keeper.js";
import { HeldEvents, LEAST_TRIES } from "./held-events.js";
import { isPositionFault } from "./kinds-of-failure.js";
import { intervalOf, type RetryPolicy, wait } from "./retry-policy.js";
import { type Course, GivenBack, HeldBack, nothingSent, type Stage, type StoreQuestions } from "./stage.js";
import { LARGEST_WRITE } from "./take-batch.js";
import type { TakenBatch } from "./taken-batch.js";

/** Milliseconds between two questions of what is held back, however many others come: these wait, too. */
const LONGEST_PAUSE = 250;

interface HoldBackParts {
  readonly store: Pick<StoreQuestions, "alreadyStored">;
  /** Whether nothing that may have been delivered before is written until the sink can tell whether it has it. */
  readonly mustTell: boolean;
  readonly keeper: Pick<DeadLetterKeeper, "keep">;
  readonly retry: RetryPolicy;
  readonly counters: SinkCounters;
  readonly log: Logger;
  readonly clock: Clock;
  /** Milliseconds of a steady clock; absent: that of the process. */
  readonly steady?: (() => number) | undefined;
}

/**
 * Asks a sink which events it has, and sees to it that those of which it cannot tell hold up no others. It is asked of what may
 * have been delivered before, of what is held back, and of a batch that fails again and again.
 *
 * Where its error names events, as those of a database that refuses connections, these are held back: the others are written with a
 * position that does not say it of the channel as a whole, and leave the channel before them. What is held back comes first in the next
 * batch. That needs a channel that agents share, or one whose takes may end with a part of their events.
 *
 * Where it names none, as while the whole server is away: with `mustTell` all events wait. Without it the batch is written as any other,
 * but after each failure the sink is asked again, so that no event of which it cannot tell becomes a dead letter. What it refuses even to be
 * asked of counts as not stored.
 */
export class HoldBack implements Stage {
  readonly name = "hold back";
  readonly next: Stage;
  readonly #parts: HoldBackParts;
  readonly #held: HeldEvents;
  readonly #unread: FailureLog;
  /** Everything waits for what is held back, and the log says so. */
  #allWait = false;

  constructor(parts: HoldBackParts, next: Stage) {
    this.#parts = parts;
    this.next = next;
    const { retry, log, clock, steady = () => performance.now() } = parts;
    this.#held = new HeldEvents({ retry, log, clock, steady });
    this.#unread = new FailureLog(log, "which redelivered events are stored already is read again");
  }

  /** Why events are held back. */
  get health(): FailureState {
    return this.#held.health;
  }

  async deliver(batch: TakenBatch, course: Course): Promise<Receipt> {
    try {
      return await this.#withoutHeld(batch, course);
    } finally {
      this.#held.releaseSettled(batch);
    }
  }

  async #withoutHeld(batch: TakenBatch, course: Course): Promise<Receipt> {
    if (!this.#parts.mustTell && !this.#mayHold(batch, course)) return await this.next.deliver(batch, course);
    try {
      return await this.#delivered(batch, course);
    } catch (error) {
      if (!(error instanceof HeldBack)) throw error;
      const held = batch.open();
      const isFull = await this.#makeRoom(held, error.cause, course);
      const pause = this.#pauseBeside(batch.events.length - held.events.length);
      if (!(await wait(pause, course.hurry))) throw error.cause;
      const { events } = held.open();
      throw new HeldBack(error.cause, { held: events, isFull, rest: this.#held.restOf(events) - pause });
    }
  }

  async #delivered(batch: TakenBatch, course: Course): Promise<Receipt> {
    const asked = batch.events.some((event) => this.#held.has(event)) ? batch : batch.possiblyStored();
    if (asked.events.length === 0) return await this.#written(batch, course);
    const answer = await this.#answer(asked, course);
    if (answer.kind !== "untold") return await this.#answered(batch, answer, course);
    // In a place of which it cannot tell nothing may be stored before what is older there.
    const ofAll = asked === batch ? answer : await this.#answer(batch.open(), course);
    if (ofAll.kind !== "untold") return await this.#answered(batch, ofAll, course);
    return await this.#apart(batch.open(), ofAll, course);
  }

  async #answered(batch: TakenBatch, { kind }: Answer, course: Course): Promise<Receipt> {
    if (kind === "told") this.#held.release(batch.events);
    return await this.#written(batch.open(), { ...course, isUnasked: kind === "none" });
  }

  async #written(batch: TakenBatch, course: Course): Promise<Receipt> {
    if (batch.events.length === 0) return nothingSent;
    if (!this.#mayHold(batch, course)) return await this.next.deliver(batch, course);
    let found: Untold | undefined;
    const isUntold = async (open: TakenBatch) => {
      const answer = await this.#asked(open, course);
      found = answer.kind === "untold" ? answer : undefined;
      return found !== undefined;
    };
    try {
      return await this.next.deliver(batch, { ...course, isUntold });
    } catch (error) {
      if (found === undefined || !(error instanceof GivenBack)) throw error;
      return await this.#apart(batch.open(), found, course);
    }
  }

  /** Writes the others, of which it may not be able to tell of some either; throws what holds back the rest. */
  async #apart(batch: TakenBatch, { error, events }: Untold, course: Course): Promise<Receipt> {
    try {
      await this.#delivered(batch.apartFrom(events), course);
    } catch (other) {
      if (!(other instanceof HeldBack)) throw other;
    }
    const held = batch.open();
    this.#held.note(error, held.only(events).events);
    throw new HeldBack(error);
  }

  /** Milliseconds. The more others there are, the sooner the next ones are taken. */
  #pauseBeside(others: number): number {
    const free = 1 - Math.min(1, others / LARGEST_WRITE);
    return Math.min(intervalOf(this.#parts.retry, 1), LONGEST_PAUSE) * free;
  }

  /**
   * Where no more may be held back, and behind a channel that agents share, which keeps what has passed, an event that nobody had before
   * becomes a dead letter after its tries. Returns whether there is no room nevertheless.
   */
  async #makeRoom(held: TakenBatch, error: unknown, course: Course): Promise<boolean> {
    const mostEvents = held.isShared ? 0 : (course.mostHeld?.() ?? 0);
    if (this.#held.isFull(held.events, mostEvents)) {
      const tried = this.#held.tried(held);
      const end = { error, attempts: LEAST_TRIES, reason: "retries-exhausted" } as const;
      if (tried.events.length > 0) await this.#parts.keeper.keep(tried, end, course);
      this.#held.release(tried.events);
    }
    if (held.isShared) return false;
    const { events } = held.open();
    const isFull = this.#held.isFull(events, mostEvents);
    this.#report(isFull && events.every((event) => held.mayBeStored(event)), events.length);
    return isFull;
  }

  #report(allWait: boolean, events: number): void {
    if (allWait && !this.#allWait) {
      const message = "no more events can be held back: all events of the channel wait until these can be stored";
      this.#parts.log.error({ events }, message);
    }
    this.#allWait = allWait;
  }

  /** While events must not be written before it can tell, the sink is asked again; throws when the delivery ends before that. */
  async #answer(batch: TakenBatch, course: Course): Promise<Answer> {
    const { mustTell, retry } = this.#parts;
    for (let attempt = 1; ; attempt += 1) {
      const answer = await this.#asked(batch, course);
      if (!mustTell || answer.kind === "untold") return answer;
      if (answer.kind === "refused" && batch.events.length > 1) return await this.#halved(batch, course);
      if (answer.kind !== "none") {
        this.#unread.works();
        return told;
      }
      const { error } = answer;
      const message = "which redelivered events are stored already cannot be read, will be tried again";
      this.#unread.failed("warn", error, { message });
      if (!(await wait(intervalOf(retry, attempt), course.hurry))) throw error;
    }
  }

  async #halved(batch: TakenBatch, course: Course): Promise<Answer> {
    const [first, second] = batch.split();
    const answers = [await this.#answer(first, course), await this.#answer(second, course)];
    const untold = answers.filter((answer) => answer.kind === "untold");
    const [one] = untold;
    return one === undefined ? told : { ...one, events: untold.flatMap(({ events }) => events) };
  }

  async #asked(batch: TakenBatch, course: Course): Promise<Answer> {
    const { store, counters, log } = this.#parts;
    try {
      const stored = await store.alreadyStored(batch, course.signal);
      counters.persisted += batch.settleFound(stored);
      if (stored.length > 0) log.info({ events: stored.length }, "events that are stored already are left out");
      return told;
    } catch (error) {
      if (course.signal.aborted) throw error;
      if (retryableOf(error) === false && !isPositionFault(error)) return { kind: "refused" };
      const named = this.#mayHold(batch, course) ? eventsOf(error) : undefined;
      const events = Array.isArray(named) ? batch.only(named).events : [];
      return events.length > 0 ? { kind: "untold", error, events } : { kind: "none", error };
    }
  }

  /** Whether a part of the batch may be held back while the others are written. */
  #mayHold(batch: TakenBatch, { mostHeld }: Course): boolean {
    return batch.isShared || (!this.#parts.mustTell && batch.mayLeave && mostHeld !== undefined && mostHeld() > 0);
  }
}

/** The sink cannot tell of these events. */
interface Untold {
  readonly kind: "untold";
  readonly error: unknown;
  readonly events: readonly Event[];
}

/** `none`: it cannot tell now. `refused`: to ask it again is of no use. */
type Answer = Untold | { readonly kind: "told" | "refused" } | { readonly kind: "none"; readonly error: unknown };

const told: Answer = { kind: "told" };
