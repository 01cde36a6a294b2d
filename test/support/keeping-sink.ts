import { AgentError, type Batch, type Receipt, type Sink } from "../../core/sdk/index.js";

/** What a database keeps: rows, and the position of the channel written in the same transaction. */
export class KeepingStore {
  readonly rows: unknown[] = [];
  position: string | undefined;
  /** Thrown by every write and every read of the position. */
  failure: Error | undefined;
  /** Writes are made, but their answers are lost. */
  losesAnswers = false;
}

export const away = (): AgentError => new AgentError("AWAY", "no server at this port", { retryable: true });

/** A sink over such a store. */
export class KeepingSink implements Sink {
  readonly #store: KeepingStore;
  readonly #reaches: boolean;

  constructor(store: KeepingStore, reaches = true) {
    this.#store = store;
    this.#reaches = reaches;
  }

  async start(): Promise<void> {}

  async stop(): Promise<void> {}

  async persist({ events, position }: Batch): Promise<Receipt> {
    this.#judge();
    this.#store.rows.push(...events.map(({ body }) => body));
    this.#store.position = position?.text;
    if (this.#store.losesAnswers) throw away();
    return { requestBytes: 0, responseBytes: 0 };
  }

  readonly positions = {
    stored: async (): Promise<readonly string[]> => {
      this.#judge();
      return this.#store.position === undefined ? [] : [this.#store.position];
    },
  };

  #judge(): void {
    if (!this.#reaches) throw away();
    if (this.#store.failure !== undefined) throw this.#store.failure;
  }
}
