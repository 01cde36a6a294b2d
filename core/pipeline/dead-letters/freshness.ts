import { type Logger, onAbort, reasonOf } from "../../sdk/index.js";
import { sharingStopped } from "./own-changes.js";

/** Milliseconds in which no agent gets the parts of another one that is held up. */
const freshMillis = 1000;

interface FreshnessParts {
  /** Resolves when everything that is in the log now was followed; rejects when the log does not answer. */
  readonly catchUp: () => Promise<void> | undefined;
  readonly log: Logger;
}

/**
 * How long ago everything that agents share was followed. A log that did not answer is asked again when it is heard of, or after as long
 * as it took, so that no more than half of the time goes into waiting for it.
 */
export class Freshness {
  readonly #parts: FreshnessParts;
  #upToDateAt = Number.NEGATIVE_INFINITY;
  /** Until when a log that did not answer is not asked again. */
  #unaskedUntil = Number.NEGATIVE_INFINITY;

  constructor(parts: FreshnessParts) {
    this.#parts = parts;
  }

  /** The log has answered. */
  heard(): void {
    this.#unaskedUntil = Number.NEGATIVE_INFINITY;
  }

  /**
   * Resolves when what was in the log so long ago at most was followed, a second when absent, or the log cannot be asked. Others get the
   * parts of an agent that is held up only after a longer time. Where 0 is given the log is asked in any case.
   */
  async upToDate(signal: AbortSignal, milliseconds = freshMillis): Promise<void> {
    const now = performance.now();
    if (milliseconds > 0 && (now - this.#upToDateAt < milliseconds || now < this.#unaskedUntil)) return;
    try {
      await endingWith(this.#parts.catchUp(), signal);
      this.#upToDateAt = now;
    } catch (error) {
      if (signal.aborted) throw error;
      const end = performance.now();
      this.#unaskedUntil = end + Math.max(freshMillis, end - now);
      this.#parts.log.debug({ reason: reasonOf(error) }, "newer dead letters of other agents cannot be read");
    }
  }
}

async function endingWith(work: Promise<void> | undefined, signal: AbortSignal): Promise<void> {
  let stopListening = () => {};
  const ended = new Promise<never>((_resolve, reject) => {
    stopListening = onAbort(signal, () => reject(sharingStopped()));
  });
  try {
    await Promise.race([work, ended]);
  } finally {
    stopListening();
  }
}
