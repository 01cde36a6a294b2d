import type { Context, Logger } from "../../../sdk/index.js";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

interface RetentionClockParts {
  readonly context: Pick<Context, "now">;
  readonly log: Logger;
  /** Milliseconds of a clock that nobody sets. */
  readonly uptime: () => number;
}

/** The times of both clocks at one look. */
interface Sight {
  readonly wall: number;
  readonly uptime: number;
}

/**
 * The time by which rows are old. A clock that is more than an hour ahead of the time that the process has measured is believed
 * after a day of uptime only: until then its jump deletes nothing, and there is time to notice it.
 */
export class RetentionClock {
  readonly #parts: RetentionClockParts;
  /** The last one that is believed. */
  #known: Sight;
  /** The first one after the clock was set forward. */
  #ahead: Sight | undefined;

  constructor(parts: RetentionClockParts) {
    this.#parts = parts;
    this.#known = this.#sight();
  }

  /** Milliseconds since 1970. */
  now(): number {
    const sight = this.#sight();
    const measured = this.#known.wall + sight.uptime - this.#known.uptime;
    if (sight.wall - measured <= HOUR) return this.#believe(sight);
    if (this.#ahead === undefined || Math.abs(jump(this.#ahead, sight)) > HOUR) {
      this.#ahead = sight;
      this.#warn(sight.wall - measured);
    }
    return sight.uptime - this.#ahead.uptime < DAY ? measured : this.#believe(sight);
  }

  #believe(sight: Sight): number {
    this.#known = sight;
    this.#ahead = undefined;
    return sight.wall;
  }

  #sight(): Sight {
    const { context, uptime } = this.#parts;
    return { wall: context.now().getTime(), uptime: uptime() };
  }

  #warn(millis: number): void {
    this.#parts.log.warn(
      { seconds: Math.round(millis / 1000) },
      "the clock of the machine was set forward: for a day of uptime old rows are deleted by the time before; set it right, or restart the agent if it is right now",
    );
  }
}

/** How far the clock moved more than time passed. */
function jump(from: Sight, to: Sight): number {
  return to.wall - from.wall - (to.uptime - from.uptime);
}
