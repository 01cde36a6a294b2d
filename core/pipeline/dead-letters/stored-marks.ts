import { type Logger, reasonOf } from "../../sdk/index.js";

/** Milliseconds. */
const usualPause = 1000;

/** Marks that could not be made. */
interface Unmarked {
  readonly letters: number;
  readonly mark: () => Promise<void>;
}

/**
 * Marks of letters whose events are stored. What cannot be marked now, as while a log that agents share does not answer, is marked later:
 * until then its letters would be replayed, or stand as on their way, and nothing else is replayed by itself.
 */
export class StoredMarks {
  readonly #log: Logger;
  readonly #pause: number;
  #left: Unmarked[] = [];
  #timer: NodeJS.Timeout | undefined;

  /** `pause`: milliseconds before letters are marked again. */
  constructor(log: Logger, pause = usualPause) {
    this.#log = log;
    this.#pause = pause;
  }

  /** Resolves when they are marked, or will be tried again; `mark` may be called several times. */
  async make(letters: number, mark: () => Promise<void>): Promise<void> {
    try {
      await mark();
    } catch (error) {
      const message = "letters whose events are stored are not marked so, will be tried again";
      this.#log.error({ letters, reason: reasonOf(error) }, message);
      this.#later([{ letters, mark }]);
    }
  }

  #later(some: readonly Unmarked[]): void {
    this.#left = [...this.#left, ...some];
    if (this.#left.length > 0) this.#timer ??= setTimeout(() => void this.#again(), this.#pause).unref();
  }

  async #again(): Promise<void> {
    const all = this.#left;
    this.#left = [];
    const failed: Unmarked[] = [];
    let marked = 0;
    for (const one of all) {
      try {
        await one.mark();
        marked += one.letters;
      } catch {
        failed.push(one);
      }
    }
    this.#timer = undefined;
    this.#later(failed);
    if (marked > 0) this.#log.info({ letters: marked }, "letters whose events are stored are marked so now");
  }
}
