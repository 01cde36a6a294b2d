import { type Receipt, retryableOf } from "../../sdk/index.js";
import type { DeadLetterKeeper } from "./dead-letter-keeper.js";
import { isPositionFault, kindOfFailure, mayBeAboutData } from "./kinds-of-failure.js";
import { NamedFailure } from "./named-failure.js";
import type { RecentVerdicts } from "./recent-verdicts.js";
import { type Course, nothingSent, type Stage, type StoreQuestions, sumOf } from "./stage.js";
import { SuspectSearch, type Verdict } from "./suspect-search.js";
import type { TakenBatch } from "./taken-batch.js";

interface SplitParts {
  readonly store: StoreQuestions;
  readonly keeper: DeadLetterKeeper;
  readonly verdicts: Pick<RecentVerdicts, "note">;
}

/**
 * Splits a batch that the store refuses until the bad event is alone and becomes a dead letter; all others are stored, in
 * order. One that takes the store too long is written in parts. A batch that keeps failing with an error that may pass is searched
 * for such an event too ({@link SuspectSearch}). Where the sink names the events that failed, only those are judged.
 */
export class Split implements Stage {
  readonly name = "split";
  readonly next: Stage;
  readonly #parts: SplitParts;
  readonly #suspects: SuspectSearch;

  constructor(parts: SplitParts, next: Stage) {
    this.#parts = parts;
    this.next = next;
    this.#suspects = new SuspectSearch({
      ...parts,
      deliver: (batch, course) => this.deliver(batch, course),
      keep: (batch, verdict, course) => this.#keep(batch, verdict, course),
    });
  }

  async deliver(batch: TakenBatch, course: Course): Promise<Receipt> {
    if (course.most !== undefined && course.most < batch.events.length) return await this.#inParts(batch, course);
    try {
      return await this.next.deliver(batch, course);
    } catch (error) {
      if (course.signal.aborted || isPositionFault(error)) throw error;
      const open = batch.open();
      if (error instanceof NamedFailure) return await this.#named(open, error, { course, of: batch.events.length });
      return await this.#unnamed(open, error, course);
    }
  }

  async #unnamed(open: TakenBatch, error: unknown, course: Course): Promise<Receipt> {
    const retryable = retryableOf(error);
    if (retryable === false) return await this.#halved(open, { error, reason: "permanent" }, course);
    if (course.doubt === "exhausted") {
      if (retryable === true) return await this.#keep(open, { error, reason: "retries-exhausted" }, course);
      return await this.#halved(open, { error, reason: "retries-exhausted" }, course);
    }
    if (course.doubt === "suspected" && mayBeAboutData(error)) return await this.#suspects.search(open, error, course);
    throw error;
  }

  async #inParts(batch: TakenBatch, course: Course): Promise<Receipt> {
    let sum = nothingSent;
    for (let rest = batch; rest.events.length > 0; ) {
      const [first, others] = rest.parted(course.most ?? rest.events.length);
      sum = sumOf(sum, await this.deliver(first, course));
      rest = others;
    }
    return sum;
  }

  async #halved(batch: TakenBatch, verdict: Verdict, course: Course): Promise<Receipt> {
    if (batch.events.length === 0) return nothingSent;
    if (batch.events.length === 1) return await this.#keep(batch, verdict, course);
    const [first, second] = batch.split();
    return sumOf(await this.deliver(first, course), await this.deliver(second, course));
  }

  async #keep(batch: TakenBatch, verdict: Verdict, course: Course): Promise<Receipt> {
    await this.#parts.keeper.keep(batch, { ...verdict, attempts: course.attempt }, course);
    return nothingSent;
  }

  /** The sink has told them apart: what it refuses becomes dead letters, and the rest is tried again. */
  async #named(open: TakenBatch, error: NamedFailure, { course, of }: Named): Promise<Receipt> {
    const refused = open.only(error.refused);
    if (refused.events.length > 0) await this.#keep(refused, { error, reason: "permanent" }, course);
    const rest = open.open();
    if (rest.events.length === 0) return nothingSent;
    // They may have failed for those that were refused beside them.
    if (refused.events.length > 0 && mayBeAboutData(error)) return await this.deliver(rest, course);
    if (course.doubt === "exhausted") return await this.#keep(rest, { error, reason: "retries-exhausted" }, course);
    if (!mayBeAboutData(error)) throw error;
    if (error.failed.size < of) this.#suspects.noteBesideStored(rest.events, kindOfFailure(error));
    if (course.doubt === "suspected") return await this.#suspects.search(rest, error, course);
    throw error;
  }
}

interface Named {
  readonly course: Course;
  /** The number of events of the write. */
  readonly of: number;
}
