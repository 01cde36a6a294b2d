import type { Event, Receipt, StoreAnswer } from "../../sdk/index.js";
import { isPositionFault, kindOfFailure, mayBeAboutData } from "./kinds-of-failure.js";
import { NamedFailure } from "./named-failure.js";
import type { RecentVerdicts } from "./recent-verdicts.js";
import { type Course, GivenBack, nothingSent, type StoreQuestions } from "./stage.js";
import type { TakenBatch } from "./taken-batch.js";

/** So often must the store refuse an event after it took another one, where it cannot be asked. */
const proofsWanted = 2;
/** The number of other events that may fail as well before the store counts as unavailable. */
const mostOthersFailing = 3;

/** Why events become dead letters. */
export interface Verdict {
  readonly error: unknown;
  readonly reason: "permanent" | "retries-exhausted";
}

interface SearchParts {
  readonly store: StoreQuestions;
  readonly verdicts: Pick<RecentVerdicts, "note">;
  /** Tries a part of the batch; it may be split. */
  deliver(batch: TakenBatch, course: Course): Promise<Receipt>;
  /** Makes dead letters of the events. */
  keep(batch: TakenBatch, verdict: Verdict, course: Course): Promise<Receipt>;
}

/**
 * Looks in a batch that keeps failing with an error that may pass for the event that is the reason. An event is blamed only when the
 * store answers meanwhile: as it says itself, or, where it cannot be asked, by what it does with other events.
 */
export class SuspectSearch {
  readonly #parts: SearchParts;
  /** How often in a row the sink named an event, with failures of one kind, while it stored others in the same write. */
  readonly #namedBesideStored = new WeakMap<Event, BesideStored>();

  constructor(parts: SearchParts) {
    this.#parts = parts;
  }

  /** Stores what stands before the first event that fails alone, judges that one, and goes on behind it. */
  async search(batch: TakenBatch, error: unknown, course: Course): Promise<Receipt> {
    const { store } = this.#parts;
    const answers = await store.answers(error, course.signal);
    const mayTryOthers = !store.keepsPositions || batch.position === undefined;
    if (answers === false || (answers === undefined && !mayTryOthers)) throw error;
    if (batch.events.length === 1) return await this.#judge(batch, { error, answers }, course);
    if (error instanceof NamedFailure && error.suspects.length > 0 && typeof answers === "string")
      return await this.#blameNamed(batch, { error, answers }, course);
    const before = batch.events.length;
    const found = await this.#firstFailing(batch, course);
    const blamed = found === undefined ? undefined : await this.#blamed(found, { error, answers }, { batch, course });
    const others = batch.open();
    const bad = found?.suspect.open();
    if (bad !== undefined && bad.events.length === 1 && blamed !== undefined) await this.#blame(bad, blamed, course);
    const rest = batch.open();
    if (rest.events.length === 0) return nothingSent;
    // Where nothing at all is stored the reason may still be the store: the next suspect has its own tries first.
    const takesOthers = others.events.length < before || typeof blamed?.answers === "string";
    return await this.#parts.deliver(rest, { ...course, doubt: takesOthers ? course.doubt : "none" });
  }

  /** A single event that the store refused; where the store cannot be asked, what it did with others decides. */
  async #judge(single: TakenBatch, { error, answers }: Judged, course: Course): Promise<Receipt> {
    if (answers === undefined && !this.#isProven(single, kindOfFailure(error))) throw error;
    // What failed may have been mended before the store was asked.
    if (answers !== undefined && (await this.#passes(single, kindOfFailure(error), course))) return nothingSent;
    return await this.#blame(single, { error, answers }, course);
  }

  async #blame(suspects: TakenBatch, { error, answers }: Judged, course: Course): Promise<Receipt> {
    if (typeof answers === "string") this.#parts.verdicts.note(error);
    return await this.#parts.keep(suspects, { error, reason: reasonBy(answers) }, course);
  }

  /** The sink says which events are the reason. It has to say so of them once more: they may have been mended before the store was asked. */
  async #blameNamed(batch: TakenBatch, { error, answers }: JudgedNamed, course: Course): Promise<Receipt> {
    const failure = await this.#failure(batch, course);
    if (failure === undefined) return nothingSent;
    const { error: again } = failure;
    if (!(again instanceof NamedFailure) || kindOfFailure(again) !== kindOfFailure(error)) throw again;
    const before = new Set(error.suspects);
    const suspects = batch.open().only(again.suspects.filter((event) => before.has(event)));
    if (suspects.events.length === 0) throw again;
    await this.#blame(suspects, { error: again, answers }, course);
    return await this.#parts.deliver(batch.open(), course);
  }

  /** Undefined when the single event that was left is stored. */
  async #firstFailing(batch: TakenBatch, course: Course): Promise<Found | undefined> {
    let failing = batch;
    while (failing.events.length > 1) {
      const [first, second] = failing.split();
      // A part of it may be stored although it failed.
      failing = ((await this.#failure(first, course)) === undefined ? second : first).open();
    }
    if (failing.events.length === 0) return undefined;
    const failure = await this.#failure(failing, course);
    return failure === undefined ? undefined : { suspect: failing, error: failure.error };
  }

  /**
   * Throws the error of the suspect where the store may be the reason. Each of several may have another error, with which it has to
   * fail once more; undefined when it is stored then.
   */
  async #blamed({ suspect, error }: Found, asked: Judged, { batch, course }: Searched): Promise<Judged | undefined> {
    const kind = kindOfFailure(error);
    const isSame = kind === kindOfFailure(asked.error);
    if (!isSame && (await this.#passes(suspect, kind, course))) return undefined;
    const answers = isSame ? asked.answers : await this.#parts.store.answers(error, course.signal);
    // What is behind it is stored before it to judge it only where it has failed in this way again and again.
    const mayBeJudged = answers !== false && (isSame || answers !== undefined);
    if (!mayBeJudged || !(await this.#isToBlame(suspect, batch, { answers, kind, course }))) throw error;
    return { error, answers };
  }

  /** Undefined when it is stored, or holds dead letters. */
  async #failure(batch: TakenBatch, course: Course): Promise<{ readonly error: unknown } | undefined> {
    try {
      await this.#parts.deliver(batch, { ...course, doubt: "none" });
      return undefined;
    } catch (error) {
      if (course.signal.aborted || isPositionFault(error) || error instanceof GivenBack) throw error;
      if (!mayBeAboutData(error)) throw error;
      return { error };
    }
  }

  /** True when it is stored, or holds dead letters; false when it fails as the whole batch did. */
  async #passes(batch: TakenBatch, kind: string, course: Course): Promise<boolean> {
    const failure = await this.#failure(batch, course);
    if (failure !== undefined && kindOfFailure(failure.error) !== kind) throw failure.error;
    return failure === undefined;
  }

  /** Also true when the suspect is stored meanwhile. */
  async #isToBlame(suspect: TakenBatch, batch: TakenBatch, { answers, kind, course }: Evidence): Promise<boolean> {
    if ((answers !== undefined && answers !== false) || this.#isProven(suspect, kind)) return true;
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

  /** These events were named while others of the same write were stored. */
  noteBesideStored(events: readonly Event[], kind: string): void {
    for (const event of events) {
      const before = this.#namedBesideStored.get(event);
      this.#namedBesideStored.set(event, { kind, times: before?.kind === kind ? before.times + 1 : 1 });
    }
  }

  /** The sink stored others and not this one, again and again, and it fails in that way now. */
  #isProven({ events: [event] }: TakenBatch, kind: string): boolean {
    const named = event && this.#namedBesideStored.get(event);
    return named !== undefined && named.kind === kind && named.times >= proofsWanted;
  }
}

interface BesideStored {
  readonly kind: string;
  readonly times: number;
}

/** An error, and what the store says of it. */
interface Judged {
  readonly error: unknown;
  readonly answers: StoreAnswer;
}

interface JudgedNamed extends Judged {
  readonly error: NamedFailure;
}

/** The first event of a batch that fails alone. */
interface Found {
  readonly suspect: TakenBatch;
  readonly error: unknown;
}

interface Searched {
  readonly batch: TakenBatch;
  readonly course: Course;
}

function reasonBy(answers: StoreAnswer): Verdict["reason"] {
  return answers === "passing" ? "retries-exhausted" : "permanent";
}

interface Evidence {
  readonly answers: StoreAnswer;
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
