import { pause } from "../sdk/index.js";
import type { LogPart, LogRecord, PartitionedLog } from "./partitioned-log.js";
import { ReadLoop } from "./read-loop.js";

/** The parts that hold no events. */
type ControlPart = Extract<LogPart, string>;

/** Gets the next records of a part, in order; what it rejects with ends the reading for it. */
interface Listener {
  readonly next: (records: readonly LogRecord[]) => void | Promise<void>;
  readonly failed?: (error: unknown) => void;
}

const LIMITS = { bytes: 4_194_304, waitMillis: 1000 };

interface ControlReaderParts {
  readonly log: Pick<PartitionedLog, "read">;
  /** What a read rejected with, and undefined when one did not. */
  outcome(error?: unknown): void;
}

/** Reads what agents tell each other: one read at a time for all parts that somebody listens to. */
export class ControlReader {
  readonly #parts: ControlReaderParts;
  readonly #listeners = new Map<ControlPart, { next: number; readonly listener: Listener }>();
  readonly #loop: ReadLoop;

  constructor(parts: ControlReaderParts) {
    this.#parts = parts;
    this.#loop = new ReadLoop({ read: (signal) => this.#read(signal), outcome: (error) => parts.outcome(error) });
  }

  /** Has the listener called with the records of the part from this offset on, instead of one that was there before. */
  listen(part: ControlPart, from: number, listener: Listener): void {
    this.#listeners.set(part, { next: from, listener });
    this.#loop.changed();
    this.#loop.start();
  }

  leave(part: ControlPart, listener: Listener): void {
    if (this.#listeners.get(part)?.listener === listener) this.#listeners.delete(part);
  }

  async stop(): Promise<void> {
    await this.#loop.stop();
  }

  async #read(signal: AbortSignal): Promise<void> {
    const asked = [...this.#listeners];
    if (asked.length === 0) return await pause(LIMITS.waitMillis, signal);
    const from = new Map<LogPart, number>(asked.map(([part, { next }]) => [part, next]));
    const found = await this.#parts.log.read(from, LIMITS, signal);
    for (const [part, heard] of asked) {
      // One that came during the read begins somewhere else.
      if (this.#listeners.get(part) !== heard) continue;
      const records = (found.get(part) ?? []).filter(({ offset }) => offset >= heard.next);
      const last = records.at(-1);
      if (last === undefined) continue;
      try {
        await heard.listener.next(records);
        heard.next = last.offset + 1;
      } catch (error) {
        this.leave(part, heard.listener);
        heard.listener.failed?.(error);
      }
    }
  }
}
