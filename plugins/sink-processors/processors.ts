import type { Context, SinkProcessor } from "deneb/sdk";
import type { FailoverConfig, LoadBalanceConfig } from "./config.js";

/** The only sink of its group, always. */
export function createDefaultProcessor(): SinkProcessor {
  return { order: (sinks) => sinks, succeeded: () => {}, failed: () => {} };
}

/** The sink of the highest priority, and while that one fails the next. */
export class FailoverProcessor implements SinkProcessor {
  readonly #priority: ReadonlyMap<string, number>;
  readonly #penalties: Penalties;

  constructor({ priority, maxpenalty }: FailoverConfig, clock: Pick<Context, "now">) {
    this.#priority = new Map(Object.entries(priority).map(([sink, number]) => [sink, Number(number)]));
    this.#penalties = new Penalties({ longest: maxpenalty, now: () => clock.now() });
  }

  order(sinks: readonly string[]): readonly string[] {
    const priority = (sink: string) => this.#priority.get(sink) ?? Number.MIN_SAFE_INTEGER;
    return this.#penalties.last(sinks.toSorted((a, b) => priority(b) - priority(a)));
  }

  succeeded(sink: string): void {
    this.#penalties.succeeded(sink);
  }

  failed(sink: string): void {
    this.#penalties.failed(sink);
  }
}

/** A number from 0 up to but not including 1. */
type Random = () => number;

/** Spreads batches over the sinks: one after the other, or at random. */
export class LoadBalanceProcessor implements SinkProcessor {
  readonly #selector: LoadBalanceConfig["selector"];
  readonly #penalties: Penalties;
  readonly #random: Random;
  #next = 0;

  constructor(config: LoadBalanceConfig, clock: Pick<Context, "now">, random: Random) {
    this.#selector = config.selector;
    const longest = config.backoff ? config["selector.maxTimeOut"] : 0;
    this.#penalties = new Penalties({ longest, now: () => clock.now() });
    this.#random = random;
  }

  order(sinks: readonly string[]): readonly string[] {
    const turned = this.#selector === "random" ? shuffled(sinks, this.#random) : this.#turned(sinks);
    return this.#penalties.last(turned);
  }

  succeeded(sink: string): void {
    this.#penalties.succeeded(sink);
  }

  failed(sink: string): void {
    this.#penalties.failed(sink);
  }

  #turned(sinks: readonly string[]): readonly string[] {
    const first = this.#next % sinks.length;
    this.#next = first + 1;
    return [...sinks.slice(first), ...sinks.slice(0, first)];
  }
}

function shuffled(sinks: readonly string[], random: Random): readonly string[] {
  const keyed = sinks.map((sink) => ({ sink, key: random() }));
  return keyed.toSorted((a, b) => a.key - b.key).map(({ sink }) => sink);
}

const firstPenalty = 2000;
const mostDoublings = 16;

interface Penalty {
  readonly failures: number;
  /** Milliseconds since 1970, as are those of its end. */
  readonly from: number;
  readonly until: number;
}

interface PenaltyLimits {
  /** Milliseconds; 0 for no penalties. */
  readonly longest: number;
  now(): Date;
}

/** For how long failed sinks are passed over: twice as long after each failure in a row, up to a limit. */
class Penalties {
  readonly #limits: PenaltyLimits;
  readonly #bySink = new Map<string, Penalty>();

  constructor(limits: PenaltyLimits) {
    this.#limits = limits;
  }

  failed(sink: string): void {
    const failures = (this.#bySink.get(sink)?.failures ?? 0) + 1;
    const penalty = firstPenalty * 2 ** Math.min(failures - 1, mostDoublings);
    const from = this.#limits.now().getTime();
    this.#bySink.set(sink, { failures, from, until: from + Math.min(penalty, this.#limits.longest) });
  }

  succeeded(sink: string): void {
    this.#bySink.delete(sink);
  }

  /** The same sinks: those that may be used in their order, then the others, the one whose penalty ends first ahead. */
  last(sinks: readonly string[]): readonly string[] {
    const now = this.#limits.now().getTime();
    const until = (sink: string) => {
      const penalty = this.#bySink.get(sink);
      // A clock that was set back says nothing about the time that has passed.
      return penalty === undefined || now < penalty.from ? 0 : penalty.until;
    };
    const usable = sinks.filter((sink) => until(sink) <= now);
    const others = sinks.filter((sink) => until(sink) > now).toSorted((a, b) => until(a) - until(b));
    return [...usable, ...others];
  }
}
