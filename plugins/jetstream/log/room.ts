import type { LogPart } from "deneb/log";
import type { AgentError } from "deneb/sdk";
import { logFull, logSettings, notSent } from "./errors.js";

/** Bytes of a record in the stream beside its value: subject, headers, and what the server keeps with each. */
const OVERHEAD = 256;
/** The part of a limited stream that events leave free, and the most of it. */
const RESERVE = 0.1;
const LARGEST_RESERVE = { bytes: 67_108_864, messages: 100_000 };
/** Of what is free an agent takes this part before it asks again: others append, too. */
const OWN_SHARE = 0.25;
/** What was told within these milliseconds is not asked for again; behind the others it counts no more. */
const FRESH_MILLIS = 100;
const OLD_MILLIS = 1000;

/** How full a stream is: its `max_bytes` and its `max_msgs`. */
export type Fullness = Readonly<Record<Measure, Used>>;

type Measure = "bytes" | "messages";

interface Used {
  readonly used: number;
  /** 0 or below: no limit. */
  readonly limit: number;
}

const MEASURES: readonly Measure[] = ["bytes", "messages"];

/** What a stream takes now. */
export interface Taking {
  readonly fullness: Fullness;
  /** Why events would not be safe in it, and the remedy; undefined when they are. */
  readonly fault: string | undefined;
}

/**
 * Keeps room in a stream with limits for what agents tell each other: without it nobody would get partitions, and nothing that is stored
 * would be removed. Dead letters may take half of it, so that what cannot be stored leaves the stream. A stream whose settings somebody has changed
 * so that it may remove events takes none.
 */
export class Room {
  readonly #ask: () => Promise<void>;
  #told: Taking;
  #toldAt = performance.now();
  /** What was appended here since. */
  #own: Record<Measure, number> = { bytes: 0, messages: 0 };

  /** `ask` has {@link Room.told} called. */
  constructor(told: Taking, ask: () => Promise<void>) {
    this.#told = told;
    this.#ask = ask;
  }

  told(taking: Taking): void {
    this.#told = taking;
    this.#toldAt = performance.now();
    this.#own = { bytes: 0, messages: 0 };
  }

  /**
   * Rejects with code `LOG_FULL` when a value with this number of bytes would take what is kept for others, and with `LOG_SETTINGS` when an
   * event would not be safe.
   */
  async take(part: LogPart, valueBytes: number, doing: string): Promise<void> {
    if (part === "agents" || this.#takesAll()) return;
    const isEvent = typeof part === "number";
    const wanted = { bytes: valueBytes + OVERHEAD, messages: 1 };
    const lacks = (share: number) =>
      MEASURES.find((measure) => this.#own[measure] + wanted[measure] > this.#free(measure, part) * share);
    const isDoubtful = lacks(OWN_SHARE) !== undefined || (isEvent && this.#told.fault !== undefined);
    const age = performance.now() - this.#toldAt;
    // Where nobody answers the append itself says it.
    if (age > (isDoubtful ? FRESH_MILLIS : OLD_MILLIS)) await this.#ask().catch(() => undefined);
    if (isEvent && this.#told.fault !== undefined) throw notSent(logSettings(doing, this.#told.fault));
    const lacking = lacks(1);
    if (lacking !== undefined) throw this.#full(doing, lacking);
    for (const measure of MEASURES) this.#own[measure] += wanted[measure];
  }

  #takesAll(): boolean {
    const { fault, fullness } = this.#told;
    return fault === undefined && fullness.bytes.limit <= 0 && fullness.messages.limit <= 0;
  }

  /** What was free for a part when it was told last. */
  #free(measure: Measure, part: LogPart): number {
    const { used, limit } = this.#told.fullness[measure];
    if (limit <= 0) return Number.POSITIVE_INFINITY;
    const kept = Math.min(limit * RESERVE, LARGEST_RESERVE[measure]);
    return limit - used - (part === "letters" ? kept / 2 : kept);
  }

  #full(doing: string, measure: Measure): AgentError {
    const { used, limit } = this.#told.fullness[measure];
    const has = `the stream has ${used + this.#own[measure]} of ${limit} ${measure}`;
    return notSent(logFull(doing, `${has}, and the rest is kept for reports of the agents`));
  }
}
