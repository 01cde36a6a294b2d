import { setTimeout as delay } from "node:timers/promises";
import { type Logger, reasonOf } from "../../sdk/index.js";

/** Milliseconds between two attempts to use a store. */
const PAUSE_MILLIS = 5000;
/** Milliseconds that the start of a sink waits for a store that does not answer: until then no source listens. */
const MOST_MILLIS = 2000;

interface FirstUseParts {
  /** Rejects while the store cannot be used. */
  probe(signal: AbortSignal): Promise<void>;
  readonly log: Logger;
  readonly pauseMillis?: number;
  readonly mostMillis?: number;
}

/**
 * The first use of a store. It is tried until it succeeds, also when nothing is to be written; the log says when it fails,
 * and when it succeeds after that.
 */
export class FirstUse {
  readonly #parts: FirstUseParts;
  readonly #ended = new AbortController();
  #isAway = false;
  #trying: Promise<void> = Promise.resolve();

  constructor(parts: FirstUseParts) {
    this.#parts = parts;
  }

  /** Resolves when the store was used or cannot be, and after two seconds at the latest; the tries go on. */
  async begin(): Promise<void> {
    const answered = new AbortController();
    this.#trying = this.#try(() => answered.abort());
    await delay(this.#parts.mostMillis ?? MOST_MILLIS, undefined, { signal: answered.signal }).catch(() => undefined);
  }

  /** The store was used: no try is needed any more. */
  works(): void {
    if (this.#isAway) this.#parts.log.info({}, "the database can be used again");
    this.#isAway = false;
    this.#ended.abort();
  }

  async stop(): Promise<void> {
    this.#ended.abort();
    await this.#trying;
  }

  async #try(answered: () => void): Promise<void> {
    const { signal } = this.#ended;
    const { probe, pauseMillis = PAUSE_MILLIS } = this.#parts;
    while (!signal.aborted) {
      await probe(signal).then(
        () => this.works(),
        (error: unknown) => this.#failed(error),
      );
      answered();
      await delay(pauseMillis, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  #failed(error: unknown): void {
    if (this.#isAway || this.#ended.signal.aborted) return;
    this.#isAway = true;
    this.#parts.log.error({ reason: reasonOf(error) }, "the database is unavailable; writes will be retried");
  }
}
