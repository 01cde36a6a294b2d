import { AgentError, type InterceptorTuning, onAbort } from "../sdk/index.js";

const MOST_AT_A_TIME = 16;
const LONGEST = 10_000;
/** Maximum delay of a timer; above it Node waits one millisecond. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** What a call returned, perhaps a promise, and what tells it that its answer is not needed any longer. */
export interface Begun {
  readonly made: unknown;
  abort(): void;
}

/** Makes the calls of one interceptor and waits for their promises, with limits of number and time. */
export class Lookups {
  readonly #concurrency: number;
  readonly #milliseconds: number;
  /** Aborts when nothing is waited for any longer. */
  readonly #abandoned: AbortSignal;
  /** Calls that wait for their turn, the first first. */
  readonly #queue = new Set<() => void>();
  #running = 0;

  constructor({ concurrency, timeLimit }: InterceptorTuning, abandoned: AbortSignal) {
    this.#concurrency = atLeastOne(concurrency, MOST_AT_A_TIME);
    this.#milliseconds = Math.min(atLeastOne(timeLimit, LONGEST), LONGEST_TIMER);
    this.#abandoned = abandoned;
  }

  /** Whether a call would have to wait for its turn. */
  get isFull(): boolean {
    return this.#running >= this.#concurrency || this.#queue.size > 0;
  }

  /** Makes a call, at once or when it is its turn; the wait for the turn counts for the time limit. */
  run(call: () => Begun): Promise<unknown> {
    return new Promise((resolve, reject) => {
      let begun: Begun | undefined;
      let isRunning = false;
      const end = () => {
        clearTimeout(timer);
        forget();
        this.#queue.delete(begin);
        if (isRunning) this.#running -= 1;
        isRunning = false;
        this.#next();
      };
      const fail = (error: unknown) => {
        end();
        reject(error);
      };
      const abandon = (error: AgentError) => {
        begun?.abort();
        fail(error);
      };
      const begin = () => {
        this.#queue.delete(begin);
        this.#running += 1;
        isRunning = true;
        try {
          begun = call();
        } catch (error) {
          return fail(error);
        }
        Promise.resolve(begun.made).then((value) => {
          end();
          resolve(value);
        }, fail);
      };
      const timer = setTimeout(() => abandon(timedOut(this.#milliseconds)), this.#milliseconds);
      const forget = onAbort(this.#abandoned, () => queueMicrotask(() => abandon(stopped())));
      if (this.isFull || this.#abandoned.aborted) this.#queue.add(begin);
      else begin();
    });
  }

  #next(): void {
    const [first] = this.#queue;
    if (first !== undefined && this.#running < this.#concurrency && !this.#abandoned.aborted) first();
  }
}

function atLeastOne(value: number | undefined, otherwise: number): number {
  return value !== undefined && Number.isInteger(value) && value >= 1 ? value : otherwise;
}

function timedOut(milliseconds: number): AgentError {
  return new AgentError("INTERCEPTOR_TIMED_OUT", `no answer within ${milliseconds} ms`, { retryable: true });
}

function stopped(): AgentError {
  return new AgentError("INTERCEPTOR_FAILED", "its source stops", { retryable: true });
}
