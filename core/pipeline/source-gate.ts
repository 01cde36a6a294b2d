import { setImmediate } from "node:timers/promises";
import { AgentError, type Emit } from "../sdk/index.js";

/** The most emits of one source that wait for their result. No source that awaits them comes near it. */
const MOST_WAITING = 20_000;
/** Of this number of calls one has its result only in the next turn of the event loop. */
const IN_ONE_TURN = 1000;

/**
 * Between a source, which anybody may have written, and what it emits: a source that emits again and again, whatever the
 * results, must not keep the process from everything else, such as a signal to stop. See decision 0152.
 */
export class SourceGate {
  readonly #source: string;
  readonly #mostWaiting: number;
  #waiting = 0;
  #calls = 0;

  /** `source` names it in messages. */
  constructor(source: string, mostWaiting = MOST_WAITING) {
    this.#source = source;
    this.#mostWaiting = mostWaiting;
  }

  emit(emit: Emit): Emit {
    return (events) => {
      this.#calls += 1;
      if (this.#waiting >= this.#mostWaiting) throw this.#overrun();
      return this.#emitting(emit(events));
    };
  }

  async #emitting(emitting: Promise<void>): Promise<void> {
    this.#waiting += 1;
    const isLast = this.#calls % IN_ONE_TURN === 0;
    try {
      await emitting;
      if (isLast) await setImmediate();
    } catch (error) {
      // What is refused is likely to come again at once.
      await setImmediate();
      throw error;
    } finally {
      this.#waiting -= 1;
    }
  }

  /** To be thrown: a rejection would not end a loop that awaits nothing. */
  #overrun(): AgentError {
    const waiting = `${this.#mostWaiting} emits of source ${this.#source} wait already`;
    const message = `${waiting}; its plugin must await each emit before the next one`;
    return new AgentError("SOURCE_OVERRUN", message, { retryable: true });
  }
}
