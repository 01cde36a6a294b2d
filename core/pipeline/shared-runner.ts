import type { SinkLoop } from "./sink-runner.js";

/** The loop of several sinks: it begins when the last one of them has started, and ends when the first one asks. */
export class SharedRunner implements SinkLoop {
  readonly #runner: SinkLoop;
  #missing: number;

  constructor(runner: SinkLoop, sinks: number) {
    this.#runner = runner;
    this.#missing = sinks;
  }

  /** Called once for each sink. */
  start(): void {
    this.#missing -= 1;
    if (this.#missing === 0) this.#runner.start();
  }

  async drain(signal: AbortSignal): Promise<void> {
    await this.#runner.drain(signal);
  }

  async halt(signal: AbortSignal): Promise<void> {
    await this.#runner.halt(signal);
  }
}
