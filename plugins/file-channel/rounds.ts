/**
 * Work that is done for many at once: a call is served by a round that begins after it, and all calls that come while
 * a round runs share the next one.
 */
export class Rounds {
  readonly #work: () => Promise<void>;
  readonly #gather: () => Promise<void>;
  #running: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;

  /** `gather` is waited for before each round: calls that come meanwhile share it. */
  constructor(work: () => Promise<void>, gather: () => Promise<void> = async () => {}) {
    this.#work = work;
    this.#gather = gather;
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
    await this.#gather();
    this.#next = undefined;
    this.#running = this.#work();
    await this.#running;
  }
}
