/**
 * Work that is done for many at once: a call is served by a round that begins after it, and all calls that come while
 * a round runs share the next one. That one begins before those of the round before are told, so that a disk has
 * something to do while they go on.
 */
export class Rounds {
  readonly #work: () => Promise<void>;
  readonly #gather: () => Promise<void> | undefined;
  #next: Round | undefined;
  #running: Promise<void> | undefined;

  /** What `gather` returns is waited for before a round: calls that come meanwhile share it. */
  constructor(work: () => Promise<void>, gather: () => Promise<void> | undefined = () => undefined) {
    this.#work = work;
    this.#gather = gather;
  }

  run(): Promise<void> {
    this.#next ??= new Round();
    this.#running ??= this.#run();
    return this.#next.done;
  }

  /** Resolves when no round is running or waiting, whether they succeeded or not. */
  async settled(): Promise<void> {
    await this.#running;
  }

  async #run(): Promise<void> {
    // What calls in one turn is served by the first round.
    await Promise.resolve();
    let tell: Tell | undefined;
    while (this.#next !== undefined) {
      const gathered = this.#gather();
      if (gathered !== undefined) {
        tell?.();
        tell = undefined;
        await gathered;
      }
      const round = this.#next;
      this.#next = undefined;
      const work = this.#work();
      tell?.();
      tell = await outcomeOf(work, round);
    }
    this.#running = undefined;
    tell?.();
  }
}

/** Tells the callers of a round how it ended. */
type Tell = () => void;

class Round {
  #resolve: () => void = () => undefined;
  #reject: (reason: unknown) => void = () => undefined;
  readonly done = new Promise<void>((resolve, reject) => {
    this.#resolve = resolve;
    this.#reject = reject;
  });

  resolve(): void {
    this.#resolve();
  }

  reject(reason: unknown): void {
    this.#reject(reason);
  }
}

async function outcomeOf(work: Promise<void>, round: Round): Promise<Tell> {
  try {
    await work;
    return () => round.resolve();
  } catch (error) {
    return () => round.reject(error);
  }
}
