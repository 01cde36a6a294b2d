import { codeOf } from "deneb/sdk";

/** The code of the error when one transaction of another program keeps a file for as long as it is waited for. */
export const KEPT_LOCKED = "KEPT_LOCKED";

interface Refusal {
  readonly at: number;
  readonly version: unknown;
}

/** So often is a file that is kept locked waited for, and not only tried. */
const MILLIS_BETWEEN_WAITS = 60_000;

/**
 * Tells files that others keep locked from those that others write, too: where somebody commits during the wait the next try may
 * succeed. A file that is kept locked is seldom waited for, because others wait for it, too: many tries find the events that fail.
 */
export class KeptLocks {
  readonly #millis: number;
  readonly #now: () => number;
  readonly #refusals = new Map<string, Refusal>();

  constructor(millis: number, now: () => number = () => performance.now()) {
    this.#millis = millis;
    this.#now = now;
  }

  /**
   * Does what needs the lock of the file of a schema and waits for it for the given milliseconds. `version` changes with each commit of
   * others.
   */
  locked<T>(schema: string, work: (waitMillis: number) => T, version: () => unknown = () => undefined): T {
    const before = version();
    const last = this.#refusals.get(schema);
    const isKnown = last !== undefined && last.version === before && this.#now() - last.at < MILLIS_BETWEEN_WAITS;
    try {
      const done = work(isKnown ? 0 : this.#millis);
      this.#refusals.delete(schema);
      return done;
    } catch (error) {
      if (codeOf(error) !== "SQLITE_BUSY" || version() !== before) throw error;
      if (!isKnown) this.#refusals.set(schema, { at: this.#now(), version: before });
      throw Object.assign(new Error("it is kept locked", { cause: error }), { code: KEPT_LOCKED });
    }
  }
}
