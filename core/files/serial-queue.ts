/** Runs functions one at a time, in the order of the calls; one that rejects does not affect the next. */
export class SerialQueue {
  #last: Promise<unknown> = Promise.resolve();

  run<T>(work: () => T | Promise<T>): Promise<T> {
    const run = this.#last.then(work);
    this.#last = run.catch(() => undefined);
    return run;
  }

  /** Resolves when everything that was queued before has ended. */
  async idle(): Promise<void> {
    await this.#last;
  }
}
