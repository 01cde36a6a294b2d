import type { Batch, Event, Receipt, Sink } from "../../core/sdk/index.js";

/** A sink in memory that asks `judge` about each write: it throws what that returns, else stores. */
export class ScriptedSink implements Sink {
  readonly stored: Event[] = [];
  readonly writes: (readonly Event[])[] = [];
  readonly #judge: (events: readonly Event[], write: number) => Error | undefined;

  constructor(judge: (events: readonly Event[], write: number) => Error | undefined = () => undefined) {
    this.#judge = judge;
  }

  async start(): Promise<void> {}

  async stop(): Promise<void> {}

  async persist({ events }: Batch): Promise<Receipt> {
    this.writes.push(events);
    const refusal = this.#judge(events, this.writes.length);
    if (refusal !== undefined) throw refusal;
    this.stored.push(...events);
    return { requestBytes: 0, responseBytes: 0 };
  }
}
