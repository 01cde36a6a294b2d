import { thrownCause } from "./causes.js";
import { AgentError, eventsOf, retryableOf } from "./errors.js";
import { onAbort } from "./lifecycle.js";

/** How a connection is made and ended. */
export interface ConnectionParts<Connection> {
  open(signal: AbortSignal): Promise<Connection>;
  close(connection: Connection): Promise<void>;
  abandon?(connection: Connection): void;
}

/** One connection that is opened when it is needed and closed after a failure. Used by one at a time. */
export class KeptConnection<Connection> {
  readonly #parts: ConnectionParts<Connection>;
  #open: { readonly value: Connection } | undefined;
  #worked = false;

  constructor(parts: ConnectionParts<Connection>) {
    this.#parts = parts;
  }

  /** Whether something was done over the connection that is open. */
  get worked(): boolean {
    return this.#worked;
  }

  /** Rejects as the work does; with `STORE_AWAY` when its error does not say whether it may pass. */
  async use<T>(signal: AbortSignal, work: (connection: Connection) => Promise<T>): Promise<T> {
    try {
      const result = await this.#unlessAborted(signal, () => this.#work(signal, work));
      this.#worked = true;
      return result;
    } catch (error) {
      if (retryableOf(error) === false) throw error;
      await this.close();
      if (retryableOf(error) !== undefined || eventsOf(error) !== undefined) throw error;
      throw new AgentError("STORE_AWAY", "writing to the store", { cause: thrownCause(error), retryable: true });
    }
  }

  async close(): Promise<void> {
    const open = this.#taken();
    try {
      if (open !== undefined) await this.#parts.close(open.value);
    } catch {
      // The connection is gone either way.
    }
  }

  #abandon(connection: Connection): void {
    try {
      this.#parts.abandon?.(connection);
    } catch {
      // A client may say that it is closed already.
    }
  }

  async #work<T>(signal: AbortSignal, work: (connection: Connection) => Promise<T>): Promise<T> {
    if (this.#open === undefined) {
      const value = await this.#parts.open(signal);
      if (signal.aborted && this.#parts.abandon !== undefined) {
        this.#abandon(value);
        throw writeAborted();
      }
      this.#open = { value };
    }
    return await work(this.#open.value);
  }

  /** Where the client cannot be cancelled, its connection is ended, and its answer is not waited for. */
  async #unlessAborted<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    if (this.#parts.abandon === undefined) return await work();
    let stopListening: (() => void) | undefined;
    const ended = new Promise<never>((_resolve, reject) => {
      stopListening = onAbort(signal, () => {
        reject(writeAborted());
        const open = this.#taken();
        if (open !== undefined) this.#abandon(open.value);
      });
    });
    try {
      return await Promise.race([work(), ended]);
    } finally {
      stopListening?.();
    }
  }

  #taken(): { readonly value: Connection } | undefined {
    const open = this.#open;
    this.#open = undefined;
    this.#worked = false;
    return open;
  }
}

export function writeAborted(): AgentError {
  return new AgentError("WRITE_ABORTED", "the write was aborted", { retryable: true });
}

/** Marks a sink with `mayRepeat` for the conformance suites; of whichever copy of this module it is. */
export const judgesRepeats: unique symbol = Symbol.for("deneb.judges-repeats");
