import { AgentError, retryableOf } from "./errors.js";
import type { Event } from "./event.js";
import { onAbort } from "./lifecycle.js";
import type { Receipt, Sink } from "./sink.js";

/** The three functions that a batch sink needs; {@link batchSink} does the rest. @stable */
export interface BatchSinkParts<Connection> {
  /** Connects to the store. Called before the first write, and again after a write that failed retryably. */
  open(signal: AbortSignal): Promise<Connection>;
  /**
   * Stores the events: all of them or none. Throws an {@link AgentError} with `retryable: false` for data that the
   * store will never accept; any other error means that the store is not available. Ends soon after the signal aborts.
   * Returns the bytes sent and received, where it knows.
   */
  write(connection: Connection, events: readonly Event[], signal: AbortSignal): Promise<Receipt | undefined>;
  /** Closes the connection. Called at most once for each connection; its errors are ignored. */
  close(connection: Connection): Promise<void>;
}

/**
 * A sink that obeys the lifecycle law: it connects at the first write, reconnects after a failure, writes one batch at a
 * time and closes what it opened, whenever `stop` is called.
 * @stable
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
    if (stopped || signal.aborted) throw new AgentError("WRITE_ABORTED", "the write was aborted", { retryable: true });
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
