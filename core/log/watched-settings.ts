import { type Logger, pause, retryableOf } from "../sdk/index.js";
import type { LogFacts, LogSettings, PartitionedLog } from "./partitioned-log.js";

/** After a look that failed: somebody is mending it. */
const FAILED_MILLIS = 1000;

interface WatchedSettingsParts {
  readonly log: Pick<PartitionedLog, "settings">;
  readonly facts: LogFacts;
  /** Milliseconds from one look to the next. */
  readonly everyMillis: number;
  /** Why the settings are no good, and undefined when they are. That the log does not answer is for others to say. */
  outcome(error?: unknown): void;
  readonly logger: Logger;
}

/** What somebody may change of a log while agents use it. Warnings that were not there before are logged, and those that are gone. */
export class WatchedSettings {
  readonly #parts: WatchedSettingsParts;
  readonly #stopping = new AbortController();
  #known: LogSettings;
  #running: Promise<void> | undefined;

  constructor(parts: WatchedSettingsParts) {
    this.#parts = parts;
    this.#known = parts.facts;
  }

  get largestRecord(): number {
    return this.#known.largestRecord;
  }

  start(): void {
    if (this.#parts.log.settings !== undefined) this.#running ??= this.#run();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  /** Rejects as the log does. */
  async look(): Promise<void> {
    const found = await this.#parts.log.settings?.();
    if (found === undefined) return;
    const { warnings: before } = this.#known;
    const { facts, logger } = this.#parts;
    this.#known = found;
    for (const warning of found.warnings) if (!before.includes(warning)) logger.warn({ log: facts.id }, warning);
    for (const warning of before)
      if (!found.warnings.includes(warning)) logger.info({ log: facts.id, warning }, "a warning about the log is gone");
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    const { everyMillis, outcome } = this.#parts;
    let millis = everyMillis;
    for (;;) {
      await pause(millis, signal);
      if (signal.aborted) return;
      try {
        await this.look();
        millis = everyMillis;
        outcome();
      } catch (error) {
        millis = Math.min(everyMillis, FAILED_MILLIS);
        if (retryableOf(error) === false) outcome(error);
      }
    }
  }
}
