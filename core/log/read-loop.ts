import { onAbort } from "../sdk/index.js";
import { pause } from "./pause.js";

const PAUSE_MILLIS = 500;

interface ReadLoopParts {
  /** One read; it is to end soon once the signal aborts. */
  read(signal: AbortSignal): Promise<void>;
  /** What a read rejected with, and undefined when one did not. */
  outcome(error?: unknown): void;
}

/** Reads again and again until it is stopped; after a failure it waits a little. */
export class ReadLoop {
  readonly #parts: ReadLoopParts;
  readonly #stopping = new AbortController();
  #changed = new AbortController();
  #running: Promise<void> | undefined;

  constructor(parts: ReadLoopParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Ends the read that is running, so that one of something else begins. */
  changed(): void {
    this.#changed.abort();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      this.#changed = new AbortController();
      const stopListening = onAbort(signal, () => this.#changed.abort());
      try {
        await this.#parts.read(this.#changed.signal);
        this.#parts.outcome();
      } catch (error) {
        if (signal.aborted) return;
        this.#parts.outcome(error);
        await pause(PAUSE_MILLIS, signal);
      } finally {
        stopListening();
      }
    }
  }
}
