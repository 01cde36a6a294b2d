import { eventsOf } from "../../sdk/errors.js";
import { FailureLog } from "../../sdk/failure-log.js";
import { type Event, type Receipt, retryableOf } from "../../sdk/index.js";
import type { Clock } from "../../tokens.js";
import { FailureState } from "../failure-state.js";
import { type AskingParts, PAUSE_MILLIS } from "./redelivered.js";
import { intervalOf, wait } from "./retry-policy.js";
import { type Course, GivenBack, HeldBack, nothingSent, type Stage } from "./stage.js";
import type { TakenBatch } from "./taken-batch.js";

/** So often was the sink asked of an event that becomes a dead letter where no more may be held back. */
const LEAST_TRIES = 3;
/** Of what is held back, as JSON: it is in memory. */
const MOST_BYTES = 16 * 1024 * 1024;

interface HoldApartParts extends AskingParts {
  readonly clock: Clock;
}

/**
 * Behind a channel of one agent whose takes may end with a part of their events: where the sink names events of which it cannot tell
 * whether it has them, as those of a database that refuses connections, these are held back and the others are written. It is asked of
 * what an earlier run may have delivered, of what is held back, and of a batch that fails again and again.
 *
 * What is held back is in the channel and comes first in the next batch. Where the error names no events, as while the whole server is
 * away, the batch is written as any other, but after each failure the sink is asked again: nothing of which it cannot tell is judged.
 */
export class HoldApart implements Stage {
  readonly name = "hold apart";
  readonly next: Stage;
  /** Why events are held back. */
  readonly health: FailureState;
  readonly #parts: HoldApartParts;
  readonly #failures: FailureLog;
  readonly #known = new WeakMap<Event, Known>();
  #isHolding = false;
  #isFull = false;

  constructor(parts: HoldApartParts, next: Stage) {
    this.#parts = parts;
    this.next = next;
    this.health = new FailureState(parts.clock);
    this.#failures = new FailureLog(parts.log, "the events that were held back can be stored again");
  }

  async deliver(batch: TakenBatch, course: Course): Promise<Receipt> {
    if (!isApart(batch, course)) return await this.next.deliver(batch, course);
    const isAsked = batch.events.some((event) => batch.isRedelivered(event) || this.#known.has(event));
    if (!isAsked) return await this.#written(batch, course);
    const answer = await this.#answer(batch, course);
    const open = batch.open();
    if (isUntold(answer)) return await this.#apart(open, answer, course);
    if (answer === "told") this.#works();
    return await this.#written(open, { ...course, isUnasked: answer === "none" });
  }

  async #written(batch: TakenBatch, course: Course): Promise<Receipt> {
    if (batch.events.length === 0) return nothingSent;
    let found: Untold | undefined;
    const isHeldBack = async (open: TakenBatch) => {
      const answer = await this.#answer(open, course);
      if (isUntold(answer)) found = answer;
      return found !== undefined;
    };
    try {
      return await this.next.deliver(batch, { ...course, isUntold: isHeldBack });
    } catch (error) {
      if (found === undefined || !(error instanceof GivenBack)) throw error;
      return await this.#apart(batch.open(), found, course);
    }
  }

  /** Writes the others, then throws what gives the rest back. */
  async #apart(batch: TakenBatch, { error, events }: Untold, course: Course): Promise<Receipt> {
    const others = batch.apartFrom(events);
    // Of the others some may fail in the same way: then these are held back, too.
    await this.#heldApart(others, course);
    const held = batch.open();
    this.#report(error, held);
    for (const event of held.events) this.#note(event);
    if (this.#isTooMuch(held, course)) await this.#makeRoom(held, error, course);
    const left = batch.open();
    const isFull = this.#isTooMuch(left, course);
    if (!isFull) this.#isFull = false;
    if (left.events.length === 0) this.health.works();
    const pause = Math.min(intervalOf(this.#parts.retry, 1), PAUSE_MILLIS);
    if (!(await wait(pause, course.hurry))) throw error;
    throw new HeldBack(error, left.events.length, isFull);
  }

  #note(event: Event): void {
    const { tries, bytes } = this.#known.get(event) ?? { tries: 0, bytes: JSON.stringify(event).length };
    this.#known.set(event, { tries: tries + 1, bytes });
  }

  #isTooMuch({ events }: TakenBatch, { mostHeld }: Course): boolean {
    if (events.length >= (mostHeld?.() ?? 0)) return true;
    let bytes = 0;
    for (const event of events) bytes += this.#known.get(event)?.bytes ?? 0;
    return bytes >= MOST_BYTES;
  }

  async #heldApart(others: TakenBatch, course: Course): Promise<void> {
    try {
      await this.#written(others, course);
    } catch (error) {
      if (!(error instanceof HeldBack)) throw error;
    }
  }

  async #answer(batch: TakenBatch, { signal }: Course): Promise<Answer> {
    const { store, counters, log } = this.#parts;
    try {
      const stored = await store.alreadyStored(batch, signal);
      counters.persisted += batch.settleFound(stored);
      if (stored.length > 0) log.info({ events: stored.length }, "events that are stored already are left out");
      return "told";
    } catch (error) {
      if (signal.aborted) throw error;
      const named = eventsOf(error);
      if (Array.isArray(named) && named.length > 0) return { error, events: named };
      return retryableOf(error) === false ? "refused" : "none";
    }
  }

  /** Where no more may be held back, what nobody had before becomes dead letters: it is not stored. */
  async #makeRoom(held: TakenBatch, error: unknown, course: Course): Promise<void> {
    const tried = held.events.filter((event) => (this.#known.get(event)?.tries ?? 0) >= LEAST_TRIES);
    const kept = tried.filter((event) => !held.isRedelivered(event));
    if (kept.length > 0) {
      const end = { error, attempts: LEAST_TRIES, reason: "retries-exhausted" } as const;
      await this.#parts.keeper.keep(held.only(kept), end, course);
    }
    const left = held.open();
    const { events } = left;
    if (!this.#isTooMuch(left, course) || tried.length < events.length || this.#isFull) return;
    this.#isFull = true;
    const message = "no more events can be held back: all events of the channel wait until these can be stored";
    this.#parts.log.error({ events: events.length }, message);
  }

  #report(error: unknown, { events }: TakenBatch): void {
    this.#isHolding = true;
    this.health.failed(error);
    const message = "events of which the sink cannot tell whether it has them are held back, the others go on";
    this.#failures.failed("warn", error, { message, fields: { events: events.length } });
  }

  #works(): void {
    if (!this.#isHolding) return;
    this.#isHolding = false;
    this.#isFull = false;
    this.health.works();
    this.#failures.works();
  }
}

interface Known {
  /** How often the sink could not tell of it. */
  readonly tries: number;
  /** Of its JSON. */
  readonly bytes: number;
}

interface Untold {
  readonly error: unknown;
  readonly events: readonly Event[];
}

/** `none`: it may be asked again. `refused`: that is of no use. */
type Answer = Untold | "told" | "none" | "refused";

function isUntold(answer: Answer): answer is Untold {
  return typeof answer === "object";
}

function isApart(batch: TakenBatch, { mostHeld }: Course): boolean {
  return mostHeld !== undefined && mostHeld() > 0 && !batch.isShared && batch.mayLeave;
}
