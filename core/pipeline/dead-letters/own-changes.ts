import { AgentError, onAbort } from "../../sdk/index.js";
import type { LetterChange } from "./shared-changes.js";

/** Milliseconds that an entry may take from the log to the files of the agent that wrote it. */
const usualReturn = 20_000;

/** A change with a number by which the agent that made it knows it again. */
interface NumberedChange {
  readonly change: LetterChange;
  readonly number: number;
}

interface Publishing {
  /** `signal` aborts when they are no longer waited for. */
  readonly append: (changes: readonly NumberedChange[], signal: AbortSignal) => Promise<void>;
  /** Ends the wait. */
  readonly signal: AbortSignal;
}

interface Waiter {
  readonly resolve: (offset: number | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/** Changes of this agent on their way through the log that agents share: each waits until it comes back. */
export class OwnChanges {
  readonly #longest: number;
  readonly #waiting = new Map<number, Waiter>();
  #last = 0;

  constructor(longestReturn = usualReturn) {
    this.#longest = longestReturn;
  }

  /** Resolves when all have come back: to the offset of each; undefined for one that does not count. */
  async published(
    changes: readonly LetterChange[],
    { append, signal }: Publishing,
  ): Promise<readonly (number | undefined)[]> {
    const numbered = changes.map((change) => {
      this.#last += 1;
      return { change, number: this.#last };
    });
    const outcomes = Promise.all(numbered.map(({ number }) => this.#outcome(number)));
    // It may reject before it is awaited.
    outcomes.catch(() => undefined);
    const leaving = new AbortController();
    try {
      return await this.#inTime(
        append(numbered, leaving.signal).then(() => outcomes),
        signal,
      );
    } finally {
      leaving.abort();
      for (const { number } of numbered) this.#waiting.delete(number);
    }
  }

  /** `offset`: undefined for one that does not count. */
  returned(number: number, offset: number | undefined): void {
    this.#waiting.get(number)?.resolve(offset);
  }

  /** None of them comes back now. */
  fail(error: unknown): void {
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }

  #outcome(number: number): Promise<number | undefined> {
    return new Promise((resolve, reject) => this.#waiting.set(number, { resolve, reject }));
  }

  async #inTime<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
    let end = () => {};
    const ended = new Promise<never>((_resolve, reject) => {
      const timer = setTimeout(() => reject(notReturned(`within ${this.#longest / 1000} seconds`)), this.#longest);
      const stopListening = onAbort(signal, () => reject(notReturned("before the delivery ended")));
      end = () => {
        clearTimeout(timer);
        stopListening();
      };
    });
    try {
      return await Promise.race([work, ended]);
    } finally {
      end();
    }
  }
}

export function sharingStopped(): AgentError {
  return notReturned("before the channel stopped");
}

function notReturned(why: string): AgentError {
  const message = `sharing dead letters: what was written into the log did not come back ${why}`;
  return new AgentError("DEAD_LETTERS_NOT_SHARED", message, { retryable: true });
}
