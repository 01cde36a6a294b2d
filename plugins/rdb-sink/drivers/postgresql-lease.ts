import type pg from "pg";

/** One use of a connection of the pool: it ends when the user says so, when the signal aborts or when time is over. */
export class PostgresqlLease {
  readonly #client: pg.PoolClient;
  readonly #signal: AbortSignal;
  readonly #timer: NodeJS.Timeout | undefined;
  #ended = false;

  constructor(client: pg.PoolClient, limitMillis: number | undefined, signal: AbortSignal) {
    this.#client = client;
    this.#signal = signal;
    // Whatever runs gets the same error; without a listener the client would throw it out of the process.
    client.on("error", ignore);
    this.#timer = limitMillis === undefined ? undefined : setTimeout(this.destroy, limitMillis);
    signal.addEventListener("abort", this.destroy, { once: true });
    if (signal.aborted) this.destroy();
  }

  /** Cuts the connection; whatever runs on it fails. */
  readonly destroy = (): void => this.end("destroy");

  /** Gives the connection back to the pool or destroys it; only the first end counts. */
  end(how: "keep" | "destroy"): void {
    if (this.#ended) return;
    this.#ended = true;
    clearTimeout(this.#timer);
    this.#signal.removeEventListener("abort", this.destroy);
    this.#client.release(how === "destroy");
    this.#client.off("error", ignore);
  }
}

function ignore(): void {}
