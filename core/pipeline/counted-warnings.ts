import type { Logger } from "../sdk/index.js";

/** Milliseconds between two lines about the same cause. */
const INTERVAL = 60_000;

/** Most causes that get lines of their own; those beyond share one. */
const MOST_CAUSES = 50;

interface CountedWarningsParts {
  readonly log: Logger;
  now(): Date;
}

/** What is logged of one occurrence; of several the fields of the last. */
interface Occurrence {
  readonly level: "warn" | "error";
  readonly message: string;
  readonly fields: object;
}

/**
 * Log lines about what a sender can cause as often as it likes: the first occurrence of a cause is logged at once, those
 * after it as one line with their number, at most once a minute.
 */
export class CountedWarnings {
  readonly #parts: CountedWarningsParts;
  readonly #causes = new Map<string, Pending>();
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: CountedWarningsParts) {
    this.#parts = parts;
  }

  add(cause: string, occurrence: Occurrence): void {
    const known = this.#causes.has(cause) || this.#causes.size < MOST_CAUSES;
    const key = known ? cause : "other";
    const pending = this.#causes.get(key);
    const now = this.#parts.now().getTime();
    if (pending === undefined) {
      this.#causes.set(key, { loggedAt: now, count: 0, last: occurrence });
      this.#log(occurrence, 1);
      return;
    }
    pending.count += 1;
    pending.last = occurrence;
    if (Math.abs(now - pending.loggedAt) >= INTERVAL) this.#logPending(pending, now);
    else this.#timer ??= setTimeout(() => this.flush(), INTERVAL).unref();
  }

  /** Logs what was counted and not logged yet. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const now = this.#parts.now().getTime();
    for (const pending of this.#causes.values()) if (pending.count > 0) this.#logPending(pending, now);
  }

  #logPending(pending: Pending, now: number): void {
    const { count, last } = pending;
    pending.loggedAt = now;
    pending.count = 0;
    this.#log(last, count);
  }

  #log({ level, fields, message }: Occurrence, count: number): void {
    this.#parts.log[level]({ ...fields, count }, message);
  }
}

interface Pending {
  loggedAt: number;
  /** Occurrences since then. */
  count: number;
  last: Occurrence;
}
