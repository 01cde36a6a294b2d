import { AgentError, onAbort, type SharedLetterListener, type SharedLetters } from "../sdk/index.js";
import type { ControlReader } from "./control-reader.js";
import type { LogRecord, PartitionedLog } from "./partitioned-log.js";

interface LogLettersParts {
  readonly log: Pick<PartitionedLog, "append" | "bounds" | "trim">;
  readonly reader: Pick<ControlReader, "listen" | "leave">;
  /** The most bytes of one entry. */
  readonly largestRecord: () => number;
  /** Milliseconds of a clock that does not jump. */
  readonly steady: () => number;
  /** Milliseconds after which others get the parts of an agent of which they do not hear. */
  readonly sessionMillis: number;
}

/** The dead letters that the agents of a log share: entries in one order for all. */
export class LogLetters implements SharedLetters {
  readonly #parts: LogLettersParts;
  #appending: Promise<unknown> = Promise.resolve();
  /** When the last append ended that took as long as a session. */
  #heldUpAt = Number.NEGATIVE_INFINITY;
  /** The offset behind the last entry that the listener has had; undefined while nobody follows. */
  #followed: number | undefined;
  #waiting: (() => void)[] = [];

  constructor(parts: LogLettersParts) {
    this.#parts = parts;
  }

  append(texts: readonly string[], signal?: AbortSignal): Promise<void> {
    const asked = this.#parts.steady();
    const next = this.#appending.catch(() => undefined).then(() => this.#appendAll(texts, asked, signal));
    this.#appending = next;
    return next;
  }

  async follow(from: number, listener: SharedLetterListener, signal: AbortSignal): Promise<void> {
    const { next: end = 0, first = 0 } = (await this.#parts.log.bounds(["letters"])).get("letters") ?? {};
    let isBehind = Math.max(from, first) < end;
    this.#noteFollowed(Math.max(from, first));
    if (!isBehind) listener.caughtUp();
    await new Promise<void>((resolve, reject) => {
      const next = async (records: readonly LogRecord[]) => {
        const entries = records.filter(({ mark }) => mark !== true);
        await listener.entries(entries.map(({ offset, value }) => ({ offset, text: Buffer.from(value).toString() })));
        const followed = (records.at(-1)?.offset ?? -1) + 1;
        this.#noteFollowed(followed);
        if (!isBehind || followed < end) return;
        isBehind = false;
        listener.caughtUp();
      };
      const own = { next, failed: reject };
      onAbort(signal, () => {
        this.#parts.reader.leave("letters", own);
        resolve();
      });
      if (!signal.aborted) this.#parts.reader.listen("letters", Math.max(from, first), own);
    });
  }

  async forget(before: number): Promise<void> {
    await this.#parts.log.trim(new Map([["letters", before]]));
  }

  /** Resolves when the listener has had all entries that are there now; at once while nobody follows. */
  async caughtUp(): Promise<void> {
    if (this.#followed === undefined) return;
    const { next = 0, first = 0 } = (await this.#parts.log.bounds(["letters"])).get("letters") ?? {};
    if (next <= first) return;
    while ((this.#followed ?? next) < next) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** Ends all waiting. */
  stop(): void {
    this.#followed = undefined;
    this.#wake();
  }

  #noteFollowed(next: number): void {
    this.#followed = Math.max(next, this.#followed ?? 0);
    this.#wake();
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }

  /** Where one was held up for a session since these were asked for, others may have stored what they are of. */
  async #appendAll(texts: readonly string[], asked: number, signal: AbortSignal | undefined): Promise<void> {
    const values = texts.map((text) => Buffer.from(text));
    const largestRecord = this.#parts.largestRecord();
    const most = values.reduce((longest, { byteLength }) => Math.max(longest, byteLength), 0);
    if (most > largestRecord) {
      const message = `appending a dead letter of ${most} bytes to a log whose records have at most ${largestRecord} bytes`;
      throw new AgentError("RECORD_TOO_LARGE", message, { retryable: false });
    }
    for (const value of values) {
      if (signal?.aborted === true || this.#heldUpAt > asked) throw abandoned();
      await this.#appendOne(value);
    }
  }

  async #appendOne(value: Uint8Array): Promise<void> {
    const { log, steady, sessionMillis } = this.#parts;
    const begun = steady();
    try {
      await log.append("letters", value);
    } finally {
      const end = steady();
      if (end - begun >= sessionMillis) this.#heldUpAt = end;
    }
  }
}

function abandoned(): AgentError {
  const message = "appending dead letters: it took too long, others may have stored their events by now";
  return new AgentError("LOG_UNAVAILABLE", message, { retryable: true });
}
