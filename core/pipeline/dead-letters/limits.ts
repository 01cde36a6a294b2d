import { AgentError } from "../../sdk/index.js";
import type { Clock } from "../../tokens.js";

/** How much is kept; 0 is no limit. */
export interface DeadLetterLimits {
  /** Days after which a letter is removed. */
  readonly days: number;
  /** Bytes of the open letters of one sink; beyond that no more are kept. */
  readonly bytes: number;
}

interface FullParts {
  readonly sink: string;
  readonly held: number;
  readonly added: number;
  readonly limit: number;
}

/** There is no room for more letters: their events stay where they are until somebody makes some. */
export function lettersFull({ sink, held, added, limit }: FullParts): AgentError {
  const remedy = "replay or drop some, or raise DENEB_DEAD_LETTER_BYTES (--dead-letter-bytes)";
  const state = `dead letters full: ${held} bytes of ${limit}, and ${added} more are needed`;
  return new AgentError("DEAD_LETTERS_FULL", `${state}; ${remedy} (sink "${sink}")`, { retryable: true });
}

const hour = 3_600_000;
const day = 24 * hour;

/** The times of both clocks at one check. */
interface Check {
  readonly wall: number;
  readonly uptime: number;
  /** Letters that were kept before this were too old. */
  readonly cutoff: number;
}

interface AgeVerdict {
  /** Letters that were kept before this are too old. */
  readonly cutoff: number;
  /** `due`: they go now. `begun`: this is the first of two checks. */
  readonly state: "begun" | "waiting" | "due";
}

/**
 * Which letters are too old, by two looks that are a day of uptime apart. A letter goes when both say so, and the clock of
 * the machine moved between them as the time of the process did: a clock that was set wrong, while the agent ran or
 * before it started, leaves a day to notice.
 */
export class LetterAge {
  readonly #limit: number;
  readonly #clock: Clock;
  readonly #uptime: () => number;
  #first: Check | undefined;

  /** `uptime` is in milliseconds and never set back or forth. */
  constructor(days: number, clock: Clock, uptime: () => number) {
    this.#limit = days * day;
    this.#clock = clock;
    this.#uptime = uptime;
  }

  look(): AgeVerdict {
    const wall = this.#clock.now().getTime();
    const sight = { wall, uptime: this.#uptime(), cutoff: wall - this.#limit };
    const first = this.#first;
    if (first === undefined || hasJumped(first, sight)) {
      this.#first = sight;
      return { cutoff: sight.cutoff, state: "begun" };
    }
    if (sight.uptime - first.uptime < day) return { cutoff: first.cutoff, state: "waiting" };
    this.#first = sight;
    return { cutoff: first.cutoff, state: "due" };
  }
}

function hasJumped(first: Check, now: Check): boolean {
  return Math.abs(now.wall - first.wall - (now.uptime - first.uptime)) > hour;
}
