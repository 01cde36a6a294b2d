import { FailureLog } from "../../sdk/failure-log.js";
import { type Context, codeOf, withEither } from "../../sdk/index.js";
import { abortable } from "../contract/driver.js";
import { hasPassed } from "../tables/known-store.js";
import { type ErrorTable, OTHER_TABLE, REFUSED_ROW, type RefusedWrite } from "./error-table.js";

/** What is logged for failures that say nothing of the next row, by their code. */
const messages: ReadonlyMap<string | undefined, string> = new Map([
  [OTHER_TABLE, "the error table of a schema is not written"],
  [REFUSED_ROW, "an error is not in the error table"],
]);

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
  readonly #failures: FailureLog;
  /** Of one schema, while those of others are written, and of single rows. */
  readonly #others: FailureLog;
  readonly #ending = new AbortController();
  #waiting: readonly RefusedWrite[] = [];
  #loop: Promise<void> | undefined;
  #failedAt: number | undefined;
  #lastMicros = Number.NEGATIVE_INFINITY;

  constructor(table: Pick<ErrorTable, "add">, context: Pick<Context, "log" | "now">) {
    this.#table = table;
    this.#context = context;
    this.#failures = new FailureLog(context.log, "the error table is written again");
    this.#others = new FailureLog(context.log, "the error table of a schema is written again");
  }

  add(write: Omit<RefusedWrite, "time">): void {
    const now = this.#context.now().getTime();
    if (this.#ending.signal.aborted || this.#waiting.length >= MOST_WAITING) return;
    if (!hasPassed(PAUSE_AFTER_FAILURE_MILLIS, this.#failedAt, now)) return;
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
      const row = first;
      this.#waiting = rest;
      try {
        const limits = [this.#ending.signal, AbortSignal.timeout(ROW_LIMIT_MILLIS)];
        await withEither(limits, (either) => this.#table.add(row, either));
        this.#failures.works();
      } catch (error) {
        const message = messages.get(codeOf(error));
        if (message !== undefined) {
          this.#others.failed("warn", error, { message });
          continue;
        }
        this.#waiting = [];
        if (this.#ending.signal.aborted) return;
        this.#failedAt = this.#context.now().getTime();
        this.#failures.failed("warn", error, { message: "the error table is not written, paused for a minute" });
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
