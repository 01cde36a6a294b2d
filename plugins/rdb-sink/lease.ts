import { AgentError } from "deneb/sdk";

/** What is done with a connection after its use. */
export type LeaseEnd = "keep" | "destroy";

export interface LeaseOptions {
  /** Gives the connection back to its pool or destroys it. */
  release(how: LeaseEnd): void;
  readonly limitMillis: number | undefined;
  readonly signal: AbortSignal;
}

/** One use of a connection of a pool: it ends when the user says so, when the signal aborts or when time is over. */
export class Lease {
  readonly #options: LeaseOptions;
  readonly #destroyed: Promise<never>;
  readonly #timer: NodeJS.Timeout | undefined;
  #refuse: (reason: unknown) => void = () => undefined;
  #ended = false;

  constructor(options: LeaseOptions) {
    this.#options = options;
    this.#destroyed = new Promise((_, reject) => {
      this.#refuse = reject;
    });
    // Only who waits for it wants to know.
    this.#destroyed.catch(() => undefined);
    const { limitMillis, signal } = options;
    this.#timer = limitMillis === undefined ? undefined : setTimeout(this.destroy, limitMillis);
    signal.addEventListener("abort", this.destroy, { once: true });
    if (signal.aborted) this.destroy();
  }

  /** Cuts the connection; whatever runs on it fails. */
  readonly destroy = (): void => this.end("destroy");

  /** The result of the work, unless the connection is destroyed before: some drivers leave their promises open then. */
  async unlessDestroyed<T>(work: Promise<T>): Promise<T> {
    return await Promise.race([work, this.#destroyed]);
  }

  /** Only the first end counts. */
  end(how: LeaseEnd): void {
    if (this.#ended) return;
    this.#ended = true;
    clearTimeout(this.#timer);
    this.#options.signal.removeEventListener("abort", this.destroy);
    this.#options.release(how);
    if (how === "destroy") this.#refuse(tooSlow(this.#options.limitMillis));
  }
}

function tooSlow(limitMillis: number | undefined): AgentError {
  const message = `a write to the database took longer than ${limitMillis} milliseconds and was given up`;
  return new AgentError("STATEMENT_TIMEOUT", `${message}; raise rdb_statement_timeout if it needs more`, {
    retryable: true,
  });
}
