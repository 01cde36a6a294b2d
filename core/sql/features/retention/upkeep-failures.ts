import { FailureLog } from "../../../sdk/failure-log.js";
import type { Logger } from "../../../sdk/index.js";
import { type TableName, tableKey } from "../../contract/statement.js";

const lines = {
  check: { message: "old rows not checked, will be tried again", over: "old rows are checked again" },
  partitions: { message: "partitions not made ahead of time", over: "partitions are made ahead of time again" },
  delete: { message: "old rows not deleted, will be tried again", over: "old rows are deleted again" },
} as const;

/** Runs what may fail and is tried again later: its failures are only logged, and their end too. */
export class UpkeepFailures {
  readonly #log: Logger;
  readonly #ending: AbortSignal;
  /** By what fails, and the table. */
  readonly #failing = new Map<string, FailureLog>();

  /** Failures after the signal aborted are not logged. */
  constructor(log: Logger, ending: AbortSignal) {
    this.#log = log;
    this.#ending = ending;
  }

  async guarded(
    task: keyof typeof lines,
    fields: { readonly table?: TableName },
    work: () => Promise<void>,
  ): Promise<void> {
    const key = fields.table === undefined ? task : `${task} ${tableKey(fields.table)}`;
    const { message, over } = lines[task];
    try {
      await work();
      this.#failing.get(key)?.works(fields);
      this.#failing.delete(key);
    } catch (error) {
      if (this.#ending.aborted) return;
      const failures = this.#failing.get(key) ?? new FailureLog(this.#log, over);
      this.#failing.set(key, failures);
      failures.failed("warn", error, { message, fields });
    }
  }
}
