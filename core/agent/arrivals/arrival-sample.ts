import type { ArrivalSwitch, ArrivalTaker } from "../../pipeline/arrival-switch.js";
import type { Clock } from "../../tokens.js";
import type { Agent } from "../agent.js";
import { type SampleOptions, SampleTaker } from "./sample-taker.js";
import { type Arrived, entryOf, type SampledArrival } from "./sampled-arrival.js";

export interface SampleState {
  readonly on: boolean;
  /** When it ends or ended by itself; absent when it was not on. */
  readonly until?: Date;
  readonly seen: { readonly accepted: number; readonly refused: number };
  /** Those that fit and were too many. */
  readonly skipped: number;
  readonly options?: SampleOptions;
  /** Number of the latest one that is kept; 0 for none. */
  readonly last: number;
}

interface ArrivalSampleParts {
  /** The agent is made with the sample, so it is asked for later. */
  readonly agent: () => Pick<Agent, "assembly">;
  readonly clock: Clock;
  /** Milliseconds of a clock that nobody sets. */
  readonly uptime?: () => number;
}

const MOST_A_SECOND = 20;
const MOST_KEPT = 500;
const MOST_CHARACTERS = 2 * 1024 * 1024;
/** Milliseconds that a sample can be read after its end. */
const READABLE = 600_000;

interface Kept {
  readonly entry: SampledArrival;
  readonly characters: number;
}

/** A bounded sample of what arrives at the sources: off until somebody asks for it, and then for a bounded time. */
export class ArrivalSample implements ArrivalSwitch {
  taker: ArrivalTaker | undefined;
  readonly #parts: ArrivalSampleParts;
  readonly #uptime: () => number;
  #options: SampleOptions | undefined;
  #until: Date | undefined;
  #kept: Kept[] = [];
  #characters = 0;
  #last = 0;
  #seen = { accepted: 0, refused: 0 };
  #skipped = 0;
  #second = { from: 0, taken: 0 };
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: ArrivalSampleParts) {
    this.#parts = parts;
    this.#uptime = parts.uptime ?? (() => performance.now());
  }

  get state(): SampleState {
    return {
      on: this.taker !== undefined,
      ...(this.#until === undefined ? {} : { until: this.#until }),
      seen: { ...this.#seen },
      skipped: this.#skipped,
      ...(this.#options === undefined ? {} : { options: this.#options }),
      last: this.#last,
    };
  }

  /** Begins again; what was kept before is gone, and numbers go on. */
  begin(options: SampleOptions): void {
    this.clear();
    const { agent, clock } = this.#parts;
    this.#options = options;
    this.#until = new Date(clock.now().getTime() + options.seconds * 1000);
    this.taker = new SampleTaker({ options, agent, mayTake: this.#mayTake, take: this.#take, now: clock.now });
    this.#timer = setTimeout(() => this.#end(), options.seconds * 1000).unref();
  }

  /** Ends it, and forgets what was kept. */
  clear(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.taker = undefined;
    this.#options = undefined;
    this.#until = undefined;
    this.#kept = [];
    this.#characters = 0;
    this.#seen = { accepted: 0, refused: 0 };
    this.#skipped = 0;
  }

  /** Those after a number, oldest first. */
  after(last: number, limit: number): readonly SampledArrival[] {
    const from = this.#kept.findIndex(({ entry }) => entry.seq > last);
    return from === -1 ? [] : this.#kept.slice(from, from + limit).map(({ entry }) => entry);
  }

  #end(): void {
    this.taker = undefined;
    this.#timer = setTimeout(() => this.clear(), READABLE).unref();
  }

  readonly #take = (arrived: Arrived): void => {
    this.#last += 1;
    const entry = entryOf(this.#last, arrived);
    const { length: characters } = JSON.stringify(entry);
    this.#kept.push({ entry, characters });
    this.#characters += characters;
    while (this.#kept.length > MOST_KEPT || this.#characters > MOST_CHARACTERS) {
      this.#characters -= this.#kept.shift()?.characters ?? 0;
    }
  };

  /** Masking takes time, which belongs to the requests. */
  readonly #mayTake = (result: Arrived["result"], fits: () => boolean): boolean => {
    this.#seen[result] += 1;
    if (!fits()) return false;
    const now = this.#uptime();
    if (now - this.#second.from >= 1000) this.#second = { from: now, taken: 0 };
    this.#second.taken += 1;
    if (this.#second.taken <= MOST_A_SECOND) return true;
    this.#skipped += 1;
    return false;
  };
}
