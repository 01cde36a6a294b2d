import { type Context, onAbort, reasonOf } from "deneb/sdk";
import type { ErrorTable, Refusal } from "./error-table.js";

/** Milliseconds that one row may take, and after a failure none is tried. */
const PATIENCE_MILLIS = 5000;
const PAUSE_AFTER_FAILURE_MILLIS = 60_000;
/** While more are waiting, further ones are left out. */
const MOST_WAITING = 100;

/**
 * Tells refusals in the table of errors, beside the delivery: no write waits for it, and what it cannot do is only
 * logged. The dead letters keep the events either way.
 */
export class ToldErrors {
  readonly #table: Pick<ErrorTable, "add">;
  readonly #context: Pick<Context, "log" | "now">;
  readonly #ending = new AbortController();
  #waiting: readonly Refusal[] = [];
  #loop: Promise<void> | undefined;
  #quietUntil = Number.NEGATIVE_INFINITY;
  #lastMicros = Number.NEGATIVE_INFINITY;

  constructor(table: Pick<ErrorTable, "add">, context: Pick<Context, "log" | "now">) {
    this.#table = table;
    this.#context = context;
  }

  tell(refusal: Omit<Refusal, "time">): void {
    const now = this.#context.now().getTime();
    if (this.#ending.signal.aborted || now < this.#quietUntil || this.#waiting.length >= MOST_WAITING) return;
    this.#waiting = [...this.#waiting, { ...refusal, time: this.#timeAfter(now) }];
    this.#loop ??= this.#run().finally(() => {
      this.#loop = undefined;
    });
  }

  /** Ends after what is waiting is told, or at once when the signal aborts. */
  async stop(signal: AbortSignal): Promise<void> {
    const stopListening = onAbort(signal, () => this.#ending.abort());
    await this.#loop;
    stopListening();
    this.#ending.abort();
  }

  async #run(): Promise<void> {
    for (let [first, ...rest] = this.#waiting; first !== undefined; [first, ...rest] = this.#waiting) {
      this.#waiting = rest;
      try {
        await this.#table.add(first, AbortSignal.any([this.#ending.signal, AbortSignal.timeout(PATIENCE_MILLIS)]));
      } catch (error) {
        this.#waiting = [];
        if (this.#ending.signal.aborted) return;
        this.#quietUntil = this.#context.now().getTime() + PAUSE_AFTER_FAILURE_MILLIS;
        this.#context.log.warn({ reason: reasonOf(error) }, "the table of errors is not written, paused for a minute");
      }
    }
  }

  /** No time twice: tables of the predecessor have it as their key. */
  #timeAfter(now: number): string {
    this.#lastMicros = Math.max(now * 1000, this.#lastMicros + 1);
    const millis = new Date(Math.floor(this.#lastMicros / 1000)).toISOString().replace("Z", "");
    return `${millis}${String(this.#lastMicros % 1000).padStart(3, "0")}Z`;
  }
}
