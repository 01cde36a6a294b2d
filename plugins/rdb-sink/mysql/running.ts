import { reasonOf } from "deneb/sdk";
import { refusedAt, type Statement, unansweredCommit } from "deneb/sql";
import { isTooSlow, ROWS_TOO_SLOW } from "./error-kinds.js";
import { waitingFor } from "./held-locks.js";

/** How far a write has come, for the error with which it ends. */
export class Running {
  readonly #statements: readonly Statement[];
  /** Of all runs of the statements the one that is under way; -1 at the begin of the transaction. */
  #at = -1;
  #since = 0;
  #lockWaitMillis = Number.POSITIVE_INFINITY;
  #commits = false;

  constructor(statements: readonly Statement[]) {
    this.#statements = statements;
  }

  begins(lockWaitMillis: number): void {
    this.#since = performance.now();
    this.#lockWaitMillis = lockWaitMillis;
  }

  next(): void {
    this.#at += 1;
    this.#since = performance.now();
  }

  commits(): void {
    this.#commits = true;
  }

  /** Whether nothing of the statements was run. */
  get isOfBegin(): boolean {
    return this.#at < 0;
  }

  /**
   * The error with the statement that failed. One that took longer than any wait for a lock is slow by itself, and not for a lock that
   * somebody holds; a commit waits for the whole server.
   */
  failed(error: unknown): unknown {
    if (this.#commits) return unansweredCommit(error);
    const statement = this.#statement();
    waitingFor(error, statement?.at);
    const isSlow = statement !== undefined && performance.now() - this.#since > this.#lockWaitMillis;
    if (!isSlow || !isTooSlow(error)) return refusedAt(error, statement);
    return refusedAt(Object.assign(new Error(reasonOf(error), { cause: error }), { code: ROWS_TOO_SLOW }), statement);
  }

  #statement(): Statement | undefined {
    let left = this.#at;
    for (const statement of this.#statements) {
      if (left < 0) return undefined;
      if (left < statement.runs.length) return statement;
      left -= statement.runs.length;
    }
    return undefined;
  }
}
