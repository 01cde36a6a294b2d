import { FailureLog } from "../sdk/failure-log.js";
import { type ChannelContext, codeOf, reasonOf, retryableOf } from "../sdk/index.js";
import type { Clocks } from "./agent-reports.js";

/** What an agent asks of a log. */
export type LogUse = "open" | "append" | "read" | "report" | "hear" | "share" | "trim" | "settings";

const ofTheRecord: ReadonlySet<string | undefined> = new Set(["RECORD_TOO_LARGE", "NOTIFICATION_TOO_LARGE"]);

/** Whether an error says something about what was appended, and nothing about the log. */
export function isOfRecord(error: unknown): boolean {
  return ofTheRecord.has(codeOf(error));
}

/** Why and since when the log cannot be reached. */
export interface LogFailure {
  readonly reason: string;
  /** Milliseconds since 1970. */
  readonly since: number;
}

interface LogHealthParts {
  readonly context: Pick<ChannelContext, "log" | "now" | "report">;
  readonly clocks: Pick<Clocks, "steady">;
  readonly sessionMillis: number;
  /** What fails once it has aborted is no failure of the log. */
  readonly stopping: AbortSignal;
}

interface Failing {
  readonly use: LogUse;
  readonly error: unknown;
  /** True where it keeps no event from being stored, and some only from being put: other parts take appends. */
  readonly isPartial: boolean;
}

/** What of a log fails, by what is asked of it, and of appends by part. Logs it, and reports it to the kernel. */
export class LogHealth {
  readonly #parts: LogHealthParts;
  readonly #failures: FailureLog;
  readonly #failing = new Map<string, Failing>();
  #failure: LogFailure | undefined;
  /** When an append failed last, by a steady clock. */
  #refusedAt = 0;

  constructor(parts: LogHealthParts) {
    this.#parts = parts;
    this.#failures = new FailureLog(parts.context.log, "the log can be reached again");
  }

  /** Undefined while events can be put and stored. */
  get failure(): LogFailure | undefined {
    return this.#failure;
  }

  /** Undefined while it works. */
  errorOf(use: LogUse): unknown {
    return this.#failing.get(use)?.error;
  }

  /** How something that was asked of the log has ended; `part` is the one that was appended to. */
  outcome(use: LogUse, error?: unknown, part?: number): void {
    const key = part === undefined ? use : `${use} ${part}`;
    if (error === undefined) this.#worked(use, key);
    else if (!this.#parts.stopping.aborted && !(use === "append" && isOfRecord(error))) this.#fails(use, key, error);
  }

  /** Nobody puts into a log that is said to be away: after a session reports tell that it takes appends again. */
  #worked(use: LogUse, key: string): void {
    if (this.#failing.size === 0) return;
    const { clocks, sessionMillis } = this.#parts;
    const isLongAgo = clocks.steady() - this.#refusedAt >= sessionMillis;
    let isChanged = this.#failing.delete(key);
    for (const [other, failing] of this.#failing) {
      if (failing.use !== "append") continue;
      if (use === "report" && isLongAgo) isChanged = this.#failing.delete(other);
      else if (use === "append" && !failing.isPartial) {
        this.#failing.set(other, { ...failing, isPartial: true });
        isChanged = true;
      }
    }
    if (!isChanged) return;
    if (this.#failing.size === 0) this.#failures.works();
    this.#tell();
  }

  #fails(use: LogUse, key: string, error: unknown): void {
    if (use === "append") this.#refusedAt = this.#parts.clocks.steady();
    const isPartial = use === "trim" || this.#failing.get(key)?.isPartial === true;
    // The newest is the last.
    this.#failing.delete(key);
    this.#failing.set(key, { use, error, isPartial });
    this.#failures.failed("error", error, { message: "the log cannot be used now; it will be tried again" });
    this.#tell();
  }

  #tell(): void {
    const { context } = this.#parts;
    const all = [...this.#failing.values()];
    const failing = all.findLast(({ isPartial }) => !isPartial);
    const error = (failing ?? all.at(-1))?.error;
    const reason = reasonOf(error);
    const since = this.#failure?.since ?? context.now().getTime();
    this.#failure = failing === undefined ? undefined : { reason, since };
    if (this.#failing.size === 0) context.report?.({ state: "up" });
    else {
      const state = failing === undefined ? "degraded" : "down";
      context.report?.({ state, reason, ...(retryableOf(error) === false ? { lasting: true } : {}) });
    }
  }
}
