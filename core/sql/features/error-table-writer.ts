import { type Context, reasonOf } from "../../sdk/index.js";
import { abortable } from "../contract/driver.js";
import type { ErrorTable, RefusedWrite } from "./error-table.js";

/** The time limit for one row, and the pause after a failure. */
const ROW_LIMIT_MILLIS = 5000;
const PAUSE_AFTER_FAILURE_MILLIS = 60_000;
/** Further rows are dropped while this number is waiting. */
const MOST_WAITING = 100;

/**
 * Writes refused events to the error table in the background. No delivery waits for it, and its failures are only
 * logged: the events are kept as dead letters in any case.
 */
export class ErrorTableWriter {
  readonly #table: Pick<ErrorTable, "add">;
  readonly #context: Pick<Context, "log" | "now">;
  readonly #ending = new AbortController();
  #waiting: readonly RefusedWrite[] = [];
  #loop: Promise<void> | undefined;
  #quietUntil = Number.NEGATIVE_INFINITY;
  #lastMicros = Number.NEGATIVE_INFINITY;

  constructor(table: Pick<ErrorTable, "add">, context: Pick<Context, "log" | "now">) {
    this.#table = table;
    this.#context = context;
  }

  add(write: Omit<RefusedWrite, "time">): void {
    const now = this.#context.now().getTime();
    if (this.#ending.signal.aborted || now < this.#quietUntil || this.#waiting.length >= MOST_WAITING) return;
    this.#waiting = [...this.#waiting, { ...write, time: this.#timeAfter(now) }];
    this.#loop ??= this.#run().finally(() => {
      this.#loop = undefined;
    });
  }

  /** Ends after the waiting rows are written, or at once when the signal is aborted. */
  async stop(signal: AbortSignal): Promise<void> {
    const end = () => this.#ending.abort();
    await abortable(signal, end, async () => await this.#loop);
    end();
  }

  async #run(): Promise<void> {
    for (let [first, ...rest] = this.#waiting; first !== undefined; [first, ...rest] = this.#waiting) {
      this.#waiting = rest;
      try {
        await this.#table.add(first, AbortSignal.any([this.#ending.signal, AbortSignal.timeout(ROW_LIMIT_MILLIS)]));
      } catch (error) {
        this.#waiting = [];
        if (this.#ending.signal.aborted) return;
        this.#quietUntil = this.#context.now().getTime() + PAUSE_AFTER_FAILURE_MILLIS;
        this.#context.log.warn({ reason: reasonOf(error) }, "the error table is not written, paused for a minute");
      }
    }
  }

  /** Times are unique: tables of the predecessor have them as their key. */
  #timeAfter(now: number): string {
    this.#lastMicros = Math.max(now * 1000, this.#lastMicros + 1);
    const millis = new Date(Math.floor(this.#lastMicros / 1000)).toISOString().replace("Z", "");
    return `${millis}${String(this.#lastMicros % 1000).padStart(3, "0")}Z`;
  }
}
