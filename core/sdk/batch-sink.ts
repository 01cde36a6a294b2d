import { onAbort } from "./abort.js";
import { AgentError, retryableOf } from "./errors.js";
import type { Event } from "./event.js";
import type { Receipt, Sink } from "./sink.js";

/** The three things a batch sink is made of; {@link batchSink} does the rest. */
export interface BatchSinkParts<Connection> {
  /** Opens the way to the store. Called before the first write, and again after a write that failed retryably. */
  open(signal: AbortSignal): Promise<Connection>;
  /**
   * Stores the events: all of them or none. Throws an {@link AgentError} with `retryable: false` for data that will
   * never go in; any other error means that the store is away. Ends soon after the signal aborts.
   * Returns the bytes sent and received, where it knows.
   */
  write(connection: Connection, events: readonly Event[], signal: AbortSignal): Promise<Receipt | undefined>;
  /** Closes the way to the store. Called at most once for each that was opened; its errors are not told to anybody. */
  close(connection: Connection): Promise<void>;
}

/**
 * A sink that keeps the lifecycle law: it connects at the first write, connects anew after the store was away, writes
 * one batch at a time and closes what it opened, whenever `stop` comes.
 */
export function batchSink<Connection>(parts: BatchSinkParts<Connection>): Sink {
  let connection: { readonly value: Connection } | undefined;
  let last: Promise<unknown> = Promise.resolve();
  let stopping = new AbortController();
  let stopped = false;

  async function close(): Promise<void> {
    const open = connection;
    connection = undefined;
    if (open !== undefined) await parts.close(open.value).catch(() => undefined);
  }

  async function write(events: readonly Event[], signal: AbortSignal): Promise<Receipt> {
    if (stopped || signal.aborted) throw new AgentError("WRITE_ABORTED", "writing was given up", { retryable: true });
    try {
      connection ??= { value: await parts.open(signal) };
      return (await parts.write(connection.value, events, signal)) ?? nothingKnown;
    } catch (error) {
      if (retryableOf(error) === false) throw error;
      await close();
      if (retryableOf(error) === true) throw error;
      throw new AgentError("STORE_AWAY", "writing to the store", { cause: error, retryable: true });
    }
  }

  return {
    async start() {
      stopped = false;
      stopping = new AbortController();
    },
    async persist({ events }, signal) {
      const either = AbortSignal.any([signal, stopping.signal]);
      const turn = last.then(() => write(events, either));
      last = turn.catch(() => undefined);
      return await turn;
    },
    async stop(signal) {
      stopped = true;
      const stopListening = onAbort(signal, () => stopping.abort());
      await last;
      stopListening();
      await close();
    },
  };
}

const nothingKnown: Receipt = { requestBytes: 0, responseBytes: 0 };
