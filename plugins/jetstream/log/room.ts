import type { LogPart } from "deneb/log";
import { logFull } from "./errors.js";

/** Bytes of a record in the stream beside its value: subject, headers, and what the server keeps with each. */
const OVERHEAD = 256;
/** The part of a limited stream that events leave free, and the most bytes of it. */
const RESERVE = 0.1;
const LARGEST_RESERVE = 67_108_864;
/** Of what is free an agent takes this part before it asks again: others append, too. */
const OWN_SHARE = 0.25;
/** What was told within these milliseconds is not asked for again; behind the others it counts no more. */
const FRESH_MILLIS = 100;
const OLD_MILLIS = 1000;

/** How full a stream is. */
export interface Fullness {
  readonly bytes: number;
  /** 0 or below: no limit. */
  readonly limit: number;
}

/**
 * Keeps room in a stream with `max_bytes` for what agents tell each other: without it nobody would get partitions, and nothing that is stored
 * would be removed. Dead letters may take half of it, so that what cannot be stored leaves the stream.
 */
export class Room {
  readonly #ask: () => Promise<void>;
  #told: Fullness;
  #toldAt = performance.now();
  /** Bytes that were appended here since. */
  #own = 0;

  /** `ask` has {@link Room.told} called. */
  constructor(told: Fullness, ask: () => Promise<void>) {
    this.#told = told;
    this.#ask = ask;
  }

  told(fullness: Fullness): void {
    this.#told = fullness;
    this.#toldAt = performance.now();
    this.#own = 0;
  }

  /** Rejects with code `LOG_FULL` when a value with this number of bytes would take what is kept for others. */
  async take(part: LogPart, valueBytes: number, doing: string): Promise<void> {
    if (this.#told.limit <= 0 || part === "agents") return;
    const bytes = valueBytes + OVERHEAD;
    const age = performance.now() - this.#toldAt;
    const isShare = this.#own + bytes <= this.#free(part) * OWN_SHARE;
    // Where nobody answers the append itself says it.
    if (age > (isShare ? OLD_MILLIS : FRESH_MILLIS)) await this.#ask().catch(() => undefined);
    if (this.#own + bytes > this.#free(part)) throw this.#full(doing);
    this.#own += bytes;
  }

  /** Bytes that were free for a part when it was told last. */
  #free(part: LogPart): number {
    const { bytes, limit } = this.#told;
    const kept = Math.min(limit * RESERVE, LARGEST_RESERVE);
    return limit - bytes - (part === "letters" ? kept / 2 : kept);
  }

  #full(doing: string): unknown {
    const { bytes, limit } = this.#told;
    return logFull(doing, `the stream has ${bytes} of ${limit} bytes, and the rest is kept for reports of the agents`);
  }
}
