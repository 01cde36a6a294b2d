import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "../../sdk/index.js";

/** Milliseconds between two attempts to use a store. */
const PAUSE_MILLIS = 5000;

interface StoreReturnParts {
  /** Rejects while the store cannot be used. */
  probe(signal: AbortSignal): Promise<void>;
  readonly log: Logger;
  readonly pauseMillis?: number;
}

/** Logs once that a store can be used which could not be used at the start, also when nothing is to be written. */
export class StoreReturn {
  readonly #parts: StoreReturnParts;
  readonly #ended = new AbortController();
  #isAway = false;
  #trying: Promise<void> = Promise.resolve();

  constructor(parts: StoreReturnParts) {
    this.#parts = parts;
  }

  /** The store could not be used: from now on it is tried from time to time. */
  away(): void {
    if (this.#isAway || this.#ended.signal.aborted) return;
    this.#isAway = true;
    this.#trying = this.#try();
  }

  /** The store was used. */
  works(): void {
    if (!this.#isAway) return;
    this.#isAway = false;
    this.#parts.log.info({}, "the database can be used again");
  }

  async stop(): Promise<void> {
    this.#ended.abort();
    await this.#trying;
  }

  async #try(): Promise<void> {
    const { signal } = this.#ended;
    const { probe, pauseMillis = PAUSE_MILLIS } = this.#parts;
    while (this.#isAway && !signal.aborted) {
      await delay(pauseMillis, undefined, { signal, ref: false }).catch(() => undefined);
      if (!this.#isAway || signal.aborted) return;
      await probe(signal).then(
        () => this.works(),
        () => undefined,
      );
    }
  }
}
