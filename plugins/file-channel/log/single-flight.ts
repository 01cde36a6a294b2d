/**
 * Runs a function once at a time. A call is served by a run that begins after it; all calls that arrive while a run is in
 * progress share the next one.
 */
export class SingleFlight {
  readonly #work: () => Promise<void>;
  readonly #delay: () => Promise<void>;
  #running: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;

  /** `delay` is awaited before each run: calls that arrive in the meantime share the run. */
  constructor(work: () => Promise<void>, delay: () => Promise<void> = async () => {}) {
    this.#work = work;
    this.#delay = delay;
  }

  run(): Promise<void> {
    this.#next ??= this.#after(this.#running);
    return this.#next;
  }

  /** Resolves when no run is in progress or waiting, whether they succeeded or not. */
  async idle(): Promise<void> {
    await Promise.allSettled([this.#running, this.#next]);
  }

  async #after(running: Promise<void>): Promise<void> {
    await Promise.allSettled([running]);
    await this.#delay();
    this.#next = undefined;
    this.#running = this.#work();
    await this.#running;
  }
}
