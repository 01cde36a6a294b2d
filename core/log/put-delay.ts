/** Milliseconds. */
const LONGEST_DELAY = 5;

/**
 * Decides when what was put goes into records: after a turn of the event loop that brought no further put, and after 5 ms in
 * any case. All parts wait together: what comes in one moment then shares a record in each part, and these share a request.
 */
export class PutDelay {
  #puts = 0;
  #running: Promise<void> | undefined;

  /** Something was put into one of the parts. */
  noted(): void {
    this.#puts += 1;
  }

  /** Resolves when it is time to make records. */
  elapsed(): Promise<void> {
    this.#running ??= this.#run();
    return this.#running;
  }

  async #run(): Promise<void> {
    const end = performance.now() + LONGEST_DELAY;
    let seen: number;
    do {
      seen = this.#puts;
      await nextTurn();
    } while (this.#puts > seen && performance.now() < end);
    this.#running = undefined;
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
