import { FailureState } from "../../pipeline/failure-state.js";
import type { Event } from "../../sdk/index.js";
import type { Clock, TransactionObserver, WriteAttempt } from "../../tokens.js";

/** Milliseconds of the window in which stored events and dead letters are compared, and of its parts. */
const WINDOW = 60_000;
const PART = 5_000;

/** What one sink, or group, did lately. */
export interface RecentOutcomes {
  readonly stored: number;
  readonly deadLetters: number;
  /** When the dead letters began of which the latest is the last; undefined when there was none yet. */
  readonly deadLettersSince: Date | undefined;
  readonly lastDeadLetter: Date | undefined;
}

interface Part {
  readonly from: number;
  stored: number;
  deadLetters: number;
}

/** Remembers what sources answered and how events ended lately: what the health of an agent is judged by. */
export class RecentActivity implements TransactionObserver {
  readonly #clock: Clock;
  readonly #sinks = new Map<string, Outcomes>();
  readonly #sources = new Map<string, FailureState>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  outcomes(sink: string): RecentOutcomes {
    return this.#of(sink).view(this.#clock.now());
  }

  /** Whether a source answers 5xx to all that it receives. */
  answers(source: string): FailureState {
    const known = this.#sources.get(source);
    if (known !== undefined) return known;
    const answers = new FailureState(this.#clock);
    this.#sources.set(source, answers);
    return answers;
  }

  /** When the sink last stored events; undefined before the first time. */
  lastStored(sink: string): Date | undefined {
    return this.#of(sink).storedAt;
  }

  /** When the sink last stored events or moved some to the dead letters. */
  lastSettled(sink: string): Date | undefined {
    return this.#of(sink).settledAt;
  }

  received(source: string, { failed }: { readonly failed: boolean }): void {
    if (!failed) this.#sources.get(source)?.works();
  }

  refused(source: string, { status, cause }: { readonly status: number; readonly cause: string }): void {
    if (status >= 500) this.answers(source).failed(new Error(`requests are answered ${status} (${cause})`));
  }

  attempted({ sink, events, finishedAt, receipt }: WriteAttempt): void {
    if (receipt !== undefined) this.#of(sink).stored(events.length, finishedAt);
  }

  givenUp(sink: string, events: readonly Event[]): void {
    this.#of(sink).kept(events.length, this.#clock.now());
  }

  #of(sink: string): Outcomes {
    const known = this.#sinks.get(sink);
    if (known !== undefined) return known;
    const outcomes = new Outcomes();
    this.#sinks.set(sink, outcomes);
    return outcomes;
  }
}

/** Milliseconds without a dead letter after which the next one is the first again. */
export const DEAD_LETTERS_REMEMBERED = 600_000;

class Outcomes {
  storedAt: Date | undefined;
  settledAt: Date | undefined;
  #parts: Part[] = [];
  #since: Date | undefined;
  #last: Date | undefined;

  part(at: Date): Part {
    const time = at.getTime();
    const last = this.#parts.at(-1);
    if (last !== undefined && Math.abs(time - last.from) < PART) return last;
    const part = { from: time, stored: 0, deadLetters: 0 };
    this.#parts = [...this.#within(time), part];
    return part;
  }

  stored(events: number, at: Date): void {
    this.part(at).stored += events;
    this.storedAt = at;
    this.settledAt = at;
  }

  kept(events: number, now: Date): void {
    this.settledAt = now;
    this.part(now).deadLetters += events;
    const gap = Math.abs(now.getTime() - (this.#last?.getTime() ?? 0));
    if (this.#since === undefined || gap > DEAD_LETTERS_REMEMBERED) this.#since = now;
    this.#last = now;
  }

  view(now: Date): RecentOutcomes {
    let stored = 0;
    let deadLetters = 0;
    for (const part of this.#within(now.getTime())) {
      stored += part.stored;
      deadLetters += part.deadLetters;
    }
    return { stored, deadLetters, deadLettersSince: this.#since, lastDeadLetter: this.#last };
  }

  #within(time: number): Part[] {
    return this.#parts.filter(({ from }) => Math.abs(time - from) < WINDOW);
  }
}
