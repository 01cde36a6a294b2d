/**
 * Work that is done for many at once: a call is served by a round that begins after it, and all calls that come while
 * a round runs share the next one.
 */
export class Rounds {
  readonly #work: () => Promise<void>;
  #running: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;

  constructor(work: () => Promise<void>) {
    this.#work = work;
  }

  run(): Promise<void> {
    this.#next ??= this.#after(this.#running);
    return this.#next;
  }

  /** Resolves when no round is running or waiting, whether they succeeded or not. */
  async settled(): Promise<void> {
    await Promise.allSettled([this.#running, this.#next]);
  }

  async #after(running: Promise<void>): Promise<void> {
    await Promise.allSettled([running]);
    this.#next = undefined;
    this.#running = this.#work();
    await this.#running;
  }
}
