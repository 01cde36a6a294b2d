const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

/** Letters of the largest batch. */
const largestBatch = 500;
const growth = 10;
/** After the start of an agent its sinks have a moment for what waits in their channels. */
const afterStart = 5 * second;
const longestPause = hour;
/** Replays that fail keep a sink from its work for no more than one part in this number. */
const costOfFailure = 5;
const costOfSearch = 20;

/** How many letters of one sink are replayed at once, and when; times are milliseconds of a clock that nobody sets. */
export class ReplayPace {
  /** One letter shows whether the store takes letters again; then they become more. */
  size = 1;
  #failures = 0;
  #sentAt = 0;
  #failedAt = 0;
  #cost = 0;
  /** When the sink had last stored something as a replay failed. */
  #storedThen = 0;
  #restUntil: number;

  constructor(now: number) {
    this.#restUntil = now + afterStart;
  }

  /** `stored` is when the sink stored something last. */
  mayGo(now: number, stored: number): boolean {
    if (now < this.#restUntil) return false;
    if (this.#failures === 0) return true;
    const pause = Math.min(minute * 2 ** (this.#failures - 1), longestPause);
    if (now - this.#failedAt >= pause) return true;
    return stored > this.#storedThen && now - this.#failedAt >= Math.min(this.#cost * (costOfFailure - 1), pause);
  }

  sent(now: number): void {
    this.#sentAt = now;
  }

  worked(): void {
    this.#failures = 0;
    this.size = Math.min(this.size * growth, largestBatch);
  }

  failed(now: number, stored: number): void {
    this.size = 1;
    this.#failures += 1;
    this.#failedAt = now;
    this.#cost = Math.max(now - this.#sentAt, second);
    this.#storedThen = stored;
  }

  /** A search through all letters found none to send. */
  nothingDue(now: number, took: number): void {
    this.#restUntil = now + Math.max(afterStart, took * costOfSearch);
  }
}

/** Milliseconds that a letter waits after it failed, by how often it was replayed before. */
export function waitOfLetter(replays: number): number {
  return Math.min(minute * 2 ** Math.max(0, replays - 1), 6 * hour);
}
