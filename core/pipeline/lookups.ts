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

/** A call that waits for its turn, or for the answer. */
interface Open {
  isOver: boolean;
  begin(): void;
  abandon(error: AgentError): void;
}

/** Makes the calls of one interceptor and waits for their promises, with limits of number and time. */
export class Lookups {
  readonly #concurrency: number;
  readonly #milliseconds: number;
  /** Aborts when nothing is waited for any longer. */
  readonly #abandoned: AbortSignal;
  /** From `#first` on, those that wait for their turn, the first first; some may be over. No set: its gaps would be passed again and again. */
  #queue: Open[] = [];
  #first = 0;
  #waiting = 0;
  /** Those that wait for their answer, and some that are over. */
  #begun: Open[] = [];
  #running = 0;
  #isBeginning = false;

  constructor({ concurrency, timeLimit }: InterceptorTuning, abandoned: AbortSignal) {
    this.#concurrency = atLeastOne(concurrency, MOST_AT_A_TIME);
    this.#milliseconds = Math.min(atLeastOne(timeLimit, LONGEST), LONGEST_TIMER);
    this.#abandoned = abandoned;
    onAbort(abandoned, () => queueMicrotask(() => this.#abandonAll()));
  }

  /** Whether a call would have to wait for its turn. */
  get isFull(): boolean {
    return this.#running >= this.#concurrency || this.#waiting > 0;
  }

  /** Makes a call, at once or when it is its turn; the wait for the turn counts for the time limit. */
  run(call: () => Begun): Promise<unknown> {
    if (this.#abandoned.aborted) return Promise.reject(stopped());
    return new Promise((resolve, reject) => {
      let begun: Begun | undefined;
      let isRunning = false;
      const end = () => {
        if (open.isOver) return;
        open.isOver = true;
        clearTimeout(timer);
        if (isRunning) this.#running -= 1;
        else this.#waiting -= 1;
        // What is over must not be kept while nothing runs.
        if (this.#running === 0) this.#begun = [];
        this.#next();
      };
      const fail = (error: unknown) => {
        end();
        reject(error);
      };
      const open: Open = {
        isOver: false,
        begin: () => {
          this.#waiting -= 1;
          this.#running += 1;
          isRunning = true;
          this.#keepBegun(open);
          try {
            begun = call();
          } catch (error) {
            return fail(error);
          }
          Promise.resolve(begun.made).then((value) => {
            end();
            resolve(value);
          }, fail);
        },
        abandon: (error) => {
          begun?.abort();
          fail(error);
        },
      };
      const timer = setTimeout(() => open.abandon(timedOut(this.#milliseconds)), this.#milliseconds);
      const waits = this.isFull;
      this.#waiting += 1;
      if (waits) this.#queue.push(open);
      else open.begin();
    });
  }

  /** A call that throws ends within the loop that began it. */
  #next(): void {
    if (this.#isBeginning) return;
    this.#isBeginning = true;
    while (this.#first < this.#queue.length && this.#running < this.#concurrency && !this.#abandoned.aborted) {
      const open = this.#queue[this.#first];
      this.#first += 1;
      if (open?.isOver === false) open.begin();
    }
    this.#isBeginning = false;
    if (this.#first * 2 <= this.#queue.length) return;
    this.#queue = this.#queue.slice(this.#first);
    this.#first = 0;
  }

  /** Those that are over are left out when they are more than the others. */
  #keepBegun(open: Open): void {
    if (this.#begun.length > 2 * this.#running) this.#begun = this.#begun.filter(({ isOver }) => !isOver);
    this.#begun.push(open);
  }

  #abandonAll(): void {
    for (const open of [...this.#begun, ...this.#queue]) if (!open.isOver) open.abandon(stopped());
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
