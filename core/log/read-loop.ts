import { onAbort, pause } from "../sdk/index.js";

const PAUSE_MILLIS = 500;

interface ReadLoopParts {
  /** One read; it is to end soon once the signal aborts. Resolves with why some of it waits, undefined where nothing does. */
  read(signal: AbortSignal): Promise<unknown>;
  /** What a read rejected or resolved with. */
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
        this.#parts.outcome(await this.#parts.read(this.#changed.signal));
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
