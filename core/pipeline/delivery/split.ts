import { type Receipt, retryableOf } from "../../sdk/index.js";
import type { DeadLetterKeeper } from "./dead-letter-keeper.js";
import {
  type Course,
  isPositionFault,
  kindOfFailure,
  mayBeAboutData,
  nothingSent,
  type Stage,
  type StoreQuestions,
  sumOf,
} from "./stage.js";
import type { TakenBatch } from "./taken-batch.js";

/** So often must the store refuse an event after it took another one, where it cannot be asked. */
const proofsWanted = 2;
/** The number of other events that may fail as well before the store counts as unavailable. */
const mostOthersFailing = 3;

export interface SplitParts {
  readonly store: StoreQuestions;
  readonly keeper: DeadLetterKeeper;
}

/**
 * Splits a batch that the store refuses until the bad event is alone and becomes a dead letter; all others are stored, in
 * order. A batch that keeps failing with an error that may pass is searched for such an event too, but an event becomes a
 * dead letter only when the store answers meanwhile.
 */
export class Split implements Stage {
  readonly name = "split";

  constructor(
    private readonly parts: SplitParts,
    readonly next: Stage,
  ) {}

  async deliver(batch: TakenBatch, course: Course): Promise<Receipt> {
    try {
      return await this.next.deliver(batch, course);
    } catch (error) {
      if (course.signal.aborted || isPositionFault(error)) throw error;
      const open = batch.open();
      const retryable = retryableOf(error);
      if (retryable === false) return await this.#halved(open, { error, reason: "permanent" }, course);
      if (course.doubt === "exhausted") {
        if (retryable === true) return await this.#keep(open, { error, reason: "retries-exhausted" }, course);
        return await this.#halved(open, { error, reason: "retries-exhausted" }, course);
      }
      if (course.doubt === "suspected" && mayBeAboutData(error)) return await this.#search(open, error, course);
      throw error;
    }
  }

  async #halved(batch: TakenBatch, verdict: Verdict, course: Course): Promise<Receipt> {
    if (batch.events.length === 0) return nothingSent;
    if (batch.events.length === 1) return await this.#keep(batch, verdict, course);
    const [first, second] = batch.split();
    return sumOf(await this.deliver(first, course), await this.deliver(second, course));
  }

  async #keep(batch: TakenBatch, verdict: Verdict, course: Course): Promise<Receipt> {
    await this.parts.keeper.keep(batch, { ...verdict, attempts: course.attempt }, course);
    return nothingSent;
  }

  /** Stores what stands before the first event that fails alone, judges that one, and goes on behind it. */
  async #search(batch: TakenBatch, error: unknown, course: Course): Promise<Receipt> {
    const { store } = this.parts;
    const answers = await store.answers(error, course.signal);
    const mayTryOthers = !store.keepsPositions || batch.position === undefined;
    if (answers === false || (answers === undefined && !mayTryOthers)) throw error;
    if (batch.events.length === 1) {
      if (answers !== true) throw error;
      return await this.#keep(batch, { error, reason: "permanent" }, course);
    }
    const kind = kindOfFailure(error);
    const before = batch.events.length;
    const suspect = await this.#firstFailing(batch, kind, course);
    if (suspect !== undefined && !(await this.#isToBlame(suspect, batch, { answers, kind, course }))) throw error;
    const others = batch.open();
    const bad = suspect?.open().events.length === 1 ? suspect : undefined;
    if (bad !== undefined) await this.#keep(bad, { error, reason: "permanent" }, course);
    const rest = batch.open();
    if (rest.events.length === 0) return nothingSent;
    // Where nothing at all is stored the reason may still be the store: the next suspect has its own tries first.
    const doubt = others.events.length < before ? course.doubt : "none";
    return await this.deliver(rest, { ...course, doubt });
  }

  /** Undefined when the single event that was left is stored. */
  async #firstFailing(batch: TakenBatch, kind: string, course: Course): Promise<TakenBatch | undefined> {
    let failing = batch;
    while (failing.events.length > 1) {
      const [first, second] = failing.split();
      failing = (await this.#passes(first, kind, course)) ? second : first;
    }
    return (await this.#passes(failing, kind, course)) ? undefined : failing;
  }

  /** True when it is stored, or holds dead letters; false when it fails as the whole batch did. */
  async #passes(batch: TakenBatch, kind: string, course: Course): Promise<boolean> {
    try {
      await this.deliver(batch, { ...course, doubt: "none" });
      return true;
    } catch (error) {
      if (course.signal.aborted || isPositionFault(error) || kindOfFailure(error) !== kind) throw error;
      return false;
    }
  }

  /** Also true when the suspect is stored meanwhile. */
  async #isToBlame(suspect: TakenBatch, batch: TakenBatch, { answers, kind, course }: Evidence): Promise<boolean> {
    if (answers === true) return true;
    let proofs = 0;
    let failing = 0;
    for (const other of singlesBehind(suspect, batch)) {
      if (!(await this.#passes(other, kind, course))) {
        failing += 1;
        if (failing === mostOthersFailing) return false;
        continue;
      }
      if (await this.#passes(suspect, kind, course)) return true;
      proofs += 1;
      if (proofs === proofsWanted) return true;
    }
    return false;
  }
}

interface Verdict {
  readonly error: unknown;
  readonly reason: "permanent" | "retries-exhausted";
}

interface Evidence {
  readonly answers: boolean | undefined;
  readonly kind: string;
  readonly course: Course;
}

function* singlesBehind(suspect: TakenBatch, batch: TakenBatch): Generator<TakenBatch> {
  let rest = batch.open();
  while (rest.events.length > 1) {
    const [first, others] = rest.parted(1);
    if (first.events[0] !== suspect.events[0]) yield first;
    rest = others;
  }
  if (rest.events.length === 1 && rest.events[0] !== suspect.events[0]) yield rest;
}
