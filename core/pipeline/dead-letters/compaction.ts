import { SerialQueue } from "../../files/serial-queue.js";
import { FailureLog } from "../../sdk/failure-log.js";
import { AgentError, type Logger } from "../../sdk/index.js";
import type { DeadLetterFile } from "./file.js";
import type { LetterIndex } from "./letter-index.js";

/** Milliseconds after which the text of stored letters is removed from a file. */
const delayMillis = 10_000;
/** Rewriting a file takes no more than this share of the time. */
const mostOfTime = 0.05;
/** A larger file is not rewritten while the agent stops; the next start does it. */
const mostBytesAtStop = 67_108_864;

interface CompactionParts {
  readonly sink: string;
  readonly file: DeadLetterFile;
  readonly log: Logger;
  readonly uptime: () => number;
  readonly index: () => Promise<LetterIndex>;
  /** Runs work while nobody else changes the file. */
  readonly inTurn: <T>(work: () => Promise<T>) => Promise<T>;
}

/** Removes the texts of settled letters from a file: a while after they were settled, or now. */
export class Compaction {
  readonly #parts: CompactionParts;
  readonly #stopping = new AbortController();
  readonly #failures: FailureLog;
  readonly #compactions = new SerialQueue();
  #timer: NodeJS.Timeout | undefined;
  #restUntil = 0;

  constructor(parts: CompactionParts) {
    this.#parts = parts;
    this.#failures = new FailureLog(parts.log, "settled dead letters are removed again");
  }

  later(): void {
    if (this.#stopping.signal.aborted || this.#timer !== undefined) return;
    const delay = Math.max(delayMillis, this.#restUntil - this.#parts.uptime());
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.#tidy();
    }, delay).unref();
  }

  async stop(index: LetterIndex | undefined): Promise<void> {
    clearTimeout(this.#timer);
    const { settledTexts = 0, bytes = 0 } = index ?? {};
    if (settledTexts > 0 && bytes <= mostBytesAtStop) await this.#tidy();
    this.#stopping.abort();
    await this.#compactions.idle();
  }

  async compact(): Promise<void> {
    try {
      await this.#compactions.run(() => this.#compact());
    } catch (cause) {
      if (this.#stopping.signal.aborted) throw cause;
      const message = `removing the texts of settled dead letters from "${this.#parts.file.path}", where they stay until it can be rewritten`;
      throw new AgentError("DEAD_LETTERS_UNWRITABLE", message, { cause, retryable: true });
    }
  }

  /** Runs work that writes the file anew by itself. */
  async alone<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    return await this.#compactions.run(() => this.#parts.inTurn(() => work(this.#stopping.signal)));
  }

  async #tidy(): Promise<void> {
    try {
      await this.compact();
      this.#failures.works({ sink: this.#parts.sink });
    } catch (error) {
      if (this.#stopping.signal.aborted) return;
      const message = "settled dead letters could not be removed, will be tried again";
      this.#failures.failed("error", error, { message, fields: { sink: this.#parts.sink } });
      this.later();
    }
  }

  async #compact(): Promise<void> {
    const { file, uptime, inTurn } = this.#parts;
    const startedAt = uptime();
    const index = await this.#parts.index();
    let texts = 0;
    try {
      const write = await inTurn(async () => {
        texts = index.settledTexts;
        index.settledTexts = 0;
        return texts === 0 ? undefined : await file.beginDraft(this.#stopping.signal);
      });
      const draft = await write?.();
      if (draft === undefined) return;
      await inTurn(() => draft.finish());
      index.forgetSettled();
    } catch (error) {
      index.settledTexts += texts;
      throw error;
    } finally {
      const now = uptime();
      this.#restUntil = now + (now - startedAt) / mostOfTime;
    }
  }
}
