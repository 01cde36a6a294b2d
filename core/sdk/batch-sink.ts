import { AgentError, codeOf, eventsOf, positionFaults, retryAfterOf, retryableOf } from "./errors.js";
import type { Event } from "./event.js";
import { judgesRepeats, KeptConnection, writeAborted } from "./kept-connection.js";
import { type BatchSinkPositions, type KeptPosition, KeptPositions } from "./kept-positions.js";
import { onAbort, withEither } from "./lifecycle.js";
import {
  type Batch,
  idOf,
  type Receipt,
  type Sink,
  type SinkPositions,
  type SinkTuning,
  type StoreAnswer,
} from "./sink.js";

/**
 * The three functions that a batch sink needs, and what it can do beyond that; {@link batchSink} does the rest.
 * @stable
 */
export interface BatchSinkParts<Connection> {
  /** Connects to the store. Called before the first write, and again after a write that failed retryably. */
  open(signal: AbortSignal): Promise<Connection>;
  /**
   * Stores the events: all of them or none, unless the error names those that failed (`events` of {@link AgentError}). Throws
   * an {@link AgentError} with `retryable: false` for data that the store will never accept; any other error means that the
   * store is not available. Ends soon after the signal aborts. Returns the bytes sent and received, where it knows.
   */
  write(
    connection: Connection,
    events: readonly Event[],
    signal: AbortSignal,
    about: BatchSinkWrite,
  ): Promise<Receipt | undefined>;
  /** Closes the connection. Called at most once for each connection, and not after `abandon`; its errors are ignored. */
  close(connection: Connection): Promise<void>;
  /** See `Sink.tuning`. */
  readonly tuning?: SinkTuning;
  /**
   * For a store that keeps the position in the transaction of the events: then each event is stored once behind a durable
   * channel. After a write that failed the position is read again, and events that are stored are not given to `write`.
   */
  readonly positions?: BatchSinkPositions<Connection>;
  /**
   * See `SinkPositions.alreadyStored`; for a store that keeps ids, for example. A sink with `positions` needs it only for
   * what these do not tell.
   */
  alreadyStored?(connection: Connection, batch: Batch, signal: AbortSignal): Promise<readonly Event[]>;
  /** See `Sink.answers`; the error is what `write` or `open` threw. Not called while the store cannot be reached. */
  answers?(connection: Connection, error: unknown, signal: AbortSignal): Promise<StoreAnswer>;
  /**
   * For a client whose calls cannot be cancelled: ends the connection at once, without waiting. Called when the signal aborts;
   * the write counts as failed then, whatever the client does, and a connection that opens later is abandoned, too.
   */
  abandon?(connection: Connection): void;
  /**
   * Whether a write that failed with this error is repeated at once, one time, over a new connection: a server that closed
   * an idle connection is noticed at the next write. Asked only when something succeeded over that connection before. True is
   * right when the error shows that nothing was stored, or when storing the events again changes nothing. Absent: true behind a
   * durable channel for a sink with `positions`, which never stores an event twice, else false.
   */
  mayRepeat?(error: unknown): boolean;
}

/** What a write can use besides its events. @stable */
export interface BatchSinkWrite {
  /** To be kept with the events; undefined without `positions`, and behind a channel that forgets. */
  readonly position: KeptPosition | undefined;
  /** The id of an event of this write; see `idOf` of deneb/sdk. */
  idOf(event: Event): string;
  /**
   * See `Batch`.
   * @beta
   */
  readonly traceparent: string | undefined;
}

/**
 * A sink that obeys the lifecycle law: it connects at the first write, reconnects after a failure, writes one batch at a
 * time and closes what it opened, whenever `stop` is called.
 * @stable
 */
export function batchSink<Connection>(parts: BatchSinkParts<Connection>): Sink {
  const link = new KeptConnection(parts);
  const kept = parts.positions === undefined ? undefined : new KeptPositions(parts.positions);
  let last: Promise<unknown> = Promise.resolve();
  let stopping = new AbortController();
  let stopped = false;

  async function inTurn<T>(signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const before = last;
    const turn = withEither([signal, stopping.signal], async (either) => {
      await before;
      if (stopped || either.aborted) throw writeAborted();
      return await work(either);
    });
    last = turn.catch(() => undefined);
    return await turn;
  }

  async function persist(batch: Batch, signal: AbortSignal): Promise<Receipt> {
    const { worked } = link;
    try {
      return await write(batch, signal);
    } catch (error) {
      if (signal.aborted || !isRepeated(error, worked, batch)) throw error;
    }
    return await write(batch, signal);
  }

  async function write(batch: Batch, signal: AbortSignal): Promise<Receipt> {
    try {
      const { receipt, position } = await link.use(signal, async (connection) => {
        const covered = await kept?.covered(batch, connection, signal);
        const events = without(batch.events, covered);
        if (events.length === 0 && batch.events.length > 0) return nothingWritten;
        const position = kept?.next(batch);
        const { traceparent } = batch;
        const about = { position, idOf: (event: Event) => idOf(batch, event), traceparent };
        return { position, receipt: await parts.write(connection, events, signal, about) };
      });
      if (position !== undefined) kept?.kept(position);
      return receipt ?? nothingKnown;
    } catch (error) {
      if (retryableOf(error) !== false) kept?.doubt();
      throw error;
    }
  }

  /** After a conflict the position is read: this agent may have moved it by a write whose answer was lost. */
  function isRepeated(error: unknown, worked: boolean, { position }: Batch): boolean {
    if (codeOf(error) === positionFaults.conflict) return kept !== undefined;
    if (!worked || retryableOf(error) === false || retryAfterOf(error) !== undefined) return false;
    if (eventsOf(error) !== undefined || codeOf(error) === positionFaults.foreign) return false;
    return parts.mayRepeat?.(sourceOf(error)) ?? (kept !== undefined && position !== undefined);
  }

  const { tuning, alreadyStored, answers } = parts;
  const positions: SinkPositions = {
    ...(kept === undefined
      ? {}
      : {
          stored: (signal) => inTurn(signal, (own) => link.use(own, (connection) => kept.stored(connection, own))),
          alreadyStored: (batch, signal) =>
            inTurn(signal, (own) =>
              link.use(own, async (connection) => {
                kept.doubt();
                return [...(await kept.covered(batch, connection, own))];
              }),
            ),
        }),
    ...(alreadyStored === undefined
      ? {}
      : {
          alreadyStored: (batch, signal) =>
            inTurn(signal, (own) => link.use(own, (connection) => alreadyStored.call(parts, connection, batch, own))),
        }),
  };
  return {
    ...(parts.mayRepeat === undefined ? {} : { [judgesRepeats]: true }),
    ...(tuning === undefined ? {} : { tuning }),
    ...(Object.keys(positions).length === 0 ? {} : { positions }),
    ...(answers === undefined
      ? {}
      : {
          answers: (error, signal) =>
            inTurn(signal, (own) =>
              link.use(own, (connection) => answers.call(parts, connection, sourceOf(error), own)),
            ),
        }),
    async start() {
      stopped = false;
      stopping = new AbortController();
    },
    persist: (batch, signal) => inTurn(signal, (own) => persist(batch, own)),
    async stop(signal) {
      stopped = true;
      const stopListening = onAbort(signal, () => stopping.abort());
      await last;
      stopListening();
      await link.close();
    },
  };
}

/** What the client threw. */
function sourceOf(error: unknown): unknown {
  return error instanceof AgentError && error.code === "STORE_AWAY" ? error.cause : error;
}

function without(events: readonly Event[], covered: ReadonlySet<Event> | undefined): readonly Event[] {
  return covered === undefined || covered.size === 0 ? events : events.filter((event) => !covered.has(event));
}

const nothingWritten = { receipt: undefined, position: undefined };
const nothingKnown: Receipt = { requestBytes: 0, responseBytes: 0 };
