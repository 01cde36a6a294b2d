const firstPenalty = 2000;
const mostDoublings = 16;

interface Penalty {
  readonly failures: number;
  /** Milliseconds since 1970. */
  readonly until: number;
}

export interface PenaltyLimits {
  /** Milliseconds; 0 for no penalties. */
  readonly longest: number;
  now(): Date;
}

/** For how long failed sinks are passed over: twice as long after each failure in a row, up to a limit. */
export class Penalties {
  readonly #limits: PenaltyLimits;
  readonly #bySink = new Map<string, Penalty>();

  constructor(limits: PenaltyLimits) {
    this.#limits = limits;
  }

  failed(sink: string): void {
    const failures = (this.#bySink.get(sink)?.failures ?? 0) + 1;
    const penalty = firstPenalty * 2 ** Math.min(failures - 1, mostDoublings);
    const until = this.#limits.now().getTime() + Math.min(penalty, this.#limits.longest);
    this.#bySink.set(sink, { failures, until });
  }

  succeeded(sink: string): void {
    this.#bySink.delete(sink);
  }

  /** The same sinks: those that may be used in their order, then the others, the one whose penalty ends first ahead. */
  last(sinks: readonly string[]): readonly string[] {
    const now = this.#limits.now().getTime();
    const until = (sink: string) => this.#bySink.get(sink)?.until ?? 0;
    const usable = sinks.filter((sink) => until(sink) <= now);
    const others = sinks.filter((sink) => until(sink) > now).toSorted((a, b) => until(a) - until(b));
    return [...usable, ...others];
  }
}
