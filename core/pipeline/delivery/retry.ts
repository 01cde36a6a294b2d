import {
  type Event,
  type Logger,
  letterHeader,
  type Receipt,
  reasonOf,
  retryAfterOf,
  retryableOf,
} from "../../sdk/index.js";
import type { Erasures } from "../erasures.js";
import { logContext } from "../log-context.js";
import type { DeadLetterKeeper } from "./dead-letter-keeper.js";
import { GroupError } from "./group-error.js";
import { isPositionFault, kindOfFailure, mayBeAboutData, tookTooLong } from "./kinds-of-failure.js";
import { Portions } from "./portions.js";
import type { RecentVerdicts } from "./recent-verdicts.js";
import { intervalOf, mayRetry, type RetryPolicy, wait } from "./retry-policy.js";
import { type Course, GivenBack, nothingSent, type Stage } from "./stage.js";
import { type TakenBatch, withoutErased } from "./taken-batch.js";

/** After this number of identical failures, one event of the batch is suspected. */
const suspicious = 3;

/** Up to this number of events one cannot be compared with the others. */
const few = 5;

/** Maximum milliseconds of a timer. */
const longestTimer = 2 ** 31 - 1;

interface RetryParts {
  readonly retry: RetryPolicy;
  readonly keeper: DeadLetterKeeper;
  readonly log: Logger;
  /** For what events became dead letters lately: a batch that fails so needs no pauses before it is searched. */
  readonly verdicts: Pick<RecentVerdicts, "has">;
  /** Tells which events were erased while they waited. */
  readonly erasures?: Pick<Erasures, "erasedAmong">;
  /** The way of a batch with replayed dead letters; absent where none are replayed. */
  readonly letters?: Stage;
}

/** Repeats temporary failures; events whose retries are used up become dead letters. */
export class Retry implements Stage {
  readonly name = "retry";
  readonly next: Stage;
  readonly #parts: RetryParts;
  /** The failure that was last logged; the same one again is not news. */
  #failing: string | undefined;
  /** Undefined until a write takes too long. */
  #portions: Portions | undefined;
  /** Settled when the running write ends, however it ends; undefined between two. */
  #writing: Promise<void> | undefined;

  constructor(parts: RetryParts, next: Stage) {
    this.#parts = parts;
    this.next = next;
  }

  async deliver(batch: TakenBatch, course: Course): Promise<Receipt> {
    const tries = new Tries(this.#parts.verdicts);
    for (let rest = this.#wanted(batch); ; rest = this.#wanted(batch)) {
      if (rest.events.length === 0) return nothingSent;
      const { attempt, doubt } = tries;
      try {
        return await this.#written(rest, { ...course, attempt, doubt });
      } catch (error) {
        if (course.signal.aborted || isPositionFault(error) || error instanceof GivenBack) throw error;
        const open = this.#wanted(batch);
        const attempts = tries.failed(error, open.events.length < rest.events.length);
        const end = await this.#failed(open, error, { ...course, attempt: attempts, doubt }, tries);
        if (end !== undefined) return end;
      }
    }
  }

  /** Undefined when there is another try, which may begin now. */
  async #failed(open: TakenBatch, error: unknown, course: Course, tries: Tries): Promise<Receipt | undefined> {
    if (open.events.length === 0) return nothingSent;
    if (!mayRetry(this.#parts.retry, course.attempt, retryableOf(error)))
      return await this.#exhausted(open, error, { ...course, doubt: "exhausted" });
    if (tries.mustPause || course.isUnasked === true) await this.#pause(open, error, course);
    if (tries.doubt === "suspected" && (await this.#isUntold(open, error, course))) throw new GivenBack(error);
    return undefined;
  }

  get writing(): Promise<void> | undefined {
    return this.#writing;
  }

  async #written(batch: TakenBatch, course: Course): Promise<Receipt> {
    const { letters = this.next } = this.#parts;
    const next = batch.events.some(isReplayed) ? letters : this.next;
    const written = next.deliver(batch, { ...course, most: this.#portions?.most(batch.events.length) });
    const ended = written.then(
      () => undefined,
      () => undefined,
    );
    this.#writing = ended;
    try {
      const receipt = await written;
      if (receipt !== nothingSent) this.#works(batch);
      return receipt;
    } catch (error) {
      if (isTooSlow(error)) this.#writeLess();
      throw error;
    } finally {
      this.#writing = undefined;
    }
  }

  /** The events to be stored: those that were erased meanwhile are left out before each try. */
  #wanted(batch: TakenBatch): TakenBatch {
    return withoutErased(batch, this.#parts.erasures, this.#parts.log);
  }

  #writeLess(): void {
    this.#portions ??= new Portions();
    this.#portions.tookTooLong();
  }

  #works({ events }: TakenBatch): void {
    this.#portions?.stored();
    if (this.#failing !== undefined) this.#parts.log.info({ events: events.length }, "storing again");
    this.#failing = undefined;
  }

  /** Logs a new failure once, then waits for the next try; throws when there is none with this batch. */
  async #pause(batch: TakenBatch, error: unknown, course: Course): Promise<void> {
    const { events } = batch;
    const { attempt, doubt, hurry, trace } = course;
    const asked = Math.min(retryAfterOf(error) ?? 0, longestTimer);
    const interval = Math.max(intervalOf(this.#parts.retry, attempt), asked);
    const reason = reasonOf(error);
    const about = { ...logContext(events), ...trace?.fields };
    const fields = { events: events.length, attempt, retryInMilliseconds: interval, reason, ...about };
    if (reason === this.#failing) this.#parts.log.debug(fields, "batch not stored, will be retried");
    else this.#parts.log.warn(fields, "batch not stored, will be retried");
    this.#failing = reason;
    if (!(await wait(interval, hurry))) throw error;
    if (!this.#isEndless(error)) return;
    if (course.isUnasked === true) throw new GivenBack(error);
    if (doubt === "suspected" && this.#wantsNeighbours(batch, course)) throw new GivenBack(error);
  }

  /** Before an event is searched for: none of which the sink cannot tell is judged. */
  async #isUntold(open: TakenBatch, error: unknown, { isUntold }: Course): Promise<boolean> {
    return isUntold !== undefined && this.#isEndless(error) && (await isUntold(open));
  }

  #isEndless(error: unknown): boolean {
    const { batchTtl, untilStored = false } = this.#parts.retry;
    return untilStored || (batchTtl === -1 && retryableOf(error) === true);
  }

  /** Among few events a bad one may not be found: with more that have come meanwhile it can be. */
  #wantsNeighbours({ events }: TakenBatch, { channel }: Course): boolean {
    return events.length <= few && channel !== undefined && (channel.size ?? 0) > events.length;
  }

  /** Where the error does not say that it may pass, the events are tried apart once more. */
  async #exhausted(rest: TakenBatch, error: unknown, course: Course): Promise<Receipt> {
    if (retryableOf(error) !== true && rest.events.length > 1) return await this.next.deliver(rest, course);
    const end = { error, attempts: course.attempt, reason: "retries-exhausted" } as const;
    await this.#parts.keeper.keep(rest, end, course);
    return nothingSent;
  }
}

/** Of a group one sink is enough: a batch of fewer events may be taken by that one. */
function isTooSlow(error: unknown): boolean {
  return error instanceof GroupError ? error.failures.some((one) => tookTooLong(one.error)) : tookTooLong(error);
}

function isReplayed({ headers }: Event): boolean {
  return headers[letterHeader] !== undefined;
}

/** The tries of a batch. When a part of it was settled, the rest has all its tries again. */
class Tries {
  attempt = 1;
  readonly #verdicts: Pick<RecentVerdicts, "has">;
  #kind: string | undefined;
  /** Identical failures in a row. */
  #repeated = 0;
  /** The last failure is one for which events became dead letters lately. */
  #isKnown = false;

  constructor(verdicts: Pick<RecentVerdicts, "has">) {
    this.#verdicts = verdicts;
  }

  /** After 3, 6, 12, 24, ... identical failures an event is suspected: a search costs several writes. */
  get doubt(): Course["doubt"] {
    if (this.#isKnown) return "suspected";
    const factor = this.#repeated / suspicious;
    return factor >= 1 && Number.isInteger(Math.log2(factor)) ? "suspected" : "none";
  }

  /** False where the next try is a search that needs no further failures. */
  get mustPause(): boolean {
    return !this.#isKnown;
  }

  /** Returns how often the events that are left have failed. */
  failed(error: unknown, partWasSettled: boolean): number {
    this.#isKnown = this.doubt === "none" && this.#verdicts.has(error);
    const kind = partWasSettled ? undefined : this.#kind;
    const failed = partWasSettled ? 1 : this.attempt;
    this.#kind = kindOfFailure(error);
    this.#repeated = mayBeAboutData(error) ? (this.#kind === kind ? this.#repeated + 1 : 1) : 0;
    this.attempt = failed + 1;
    return failed;
  }
}
