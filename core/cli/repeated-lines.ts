/** Milliseconds in which a line is not printed again. */
const QUIET_MILLIS = 10_000;
const MOST_LINES = 100;

interface Printed {
  readonly at: number;
  /** How often it came since. */
  more: number;
}

/** Prints lines that may come thousands of times in a second, as an error of a plugin for each event: each at most every ten seconds. */
export class RepeatedLines {
  readonly #print: (line: string) => void;
  readonly #now: () => number;
  readonly #printed = new Map<string, Printed>();

  /** `now` in milliseconds of a steady clock. */
  constructor(print: (line: string) => void, now: () => number = () => performance.now()) {
    this.#print = print;
    this.#now = now;
  }

  say(line: string): void {
    const now = this.#now();
    const last = this.#printed.get(line);
    if (last !== undefined && now - last.at < QUIET_MILLIS) {
      last.more += 1;
      return;
    }
    const more = last?.more ?? 0;
    this.#print(more === 0 ? line : `${line} (${more} more times before)`);
    this.#printed.delete(line);
    this.#printed.set(line, { at: now, more: 0 });
    const [oldest = ""] = this.#printed.keys();
    if (this.#printed.size > MOST_LINES) this.#printed.delete(oldest);
  }
}
