import { AgentError, codeOf, onAbort } from "deneb/sdk";
import type { Cell, Statement } from "../statement.js";
import type { SchemaName } from "../table-name.js";

/** The way to a database. It throws what its npm package throws; the dialect reads that. */
export interface Driver {
  /** Makes sure once that the store can be used; throws when it cannot. */
  probe(signal: AbortSignal): Promise<void>;
  /** The rows of all the statements, one after another; none of a database that a data model asks for and is not there. */
  read(statements: readonly Statement[], signal: AbortSignal): Promise<readonly (readonly Cell[])[]>;
  /**
   * Runs the statements in order: all of them or none. Returns the bytes of the answers. A store with a file for each
   * schema, or with several databases, can only promise it for each of them; when some were committed it throws
   * {@link PartlyWritten}. A statement with `changes` that changes another number of rows, or that the unique key of its
   * table refuses, ends it with {@link unexpectedChanges} before anything is committed.
   */
  write(statements: readonly Statement[], signal: AbortSignal): Promise<number>;
  /** Where tables may be, as far as is known: databases, or schemas with a file of their own. */
  places(signal: AbortSignal): Promise<readonly SchemaName[]>;
  /** Ends connections and threads; safe to call twice. After the signal aborts, running work is given up. */
  close(signal: AbortSignal): Promise<void>;
}

/** The statements of some places are committed, the others are not, because of the cause. */
export class PartlyWritten extends Error {
  /** Whether the statements of this place are committed. */
  readonly wrote: (place: SchemaName) => boolean;

  constructor(wrote: (place: SchemaName) => boolean, cause: unknown) {
    super("a part of the batch is written", { cause });
    this.wrote = wrote;
  }
}

/** What a driver throws when the signal aborted. */
export function writeAborted(): AgentError {
  return new AgentError("WRITE_ABORTED", "writing was given up before it was done", { retryable: true });
}

const UNEXPECTED_CHANGES = "UNEXPECTED_CHANGES";

/** What a driver throws when a statement changed another number of rows than it must: somebody else was there. */
export function unexpectedChanges(): AgentError {
  return new AgentError(UNEXPECTED_CHANGES, "a row is not as it was known; nothing is written", { retryable: true });
}

export function isUnexpectedChanges(error: unknown): boolean {
  return codeOf(error) === UNEXPECTED_CHANGES;
}

/** Waits for the promise or the signal, whichever comes first; what comes after the signal is handed to `late`. */
export async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal, late: (value: T) => void): Promise<T> {
  return await new Promise<T>((resolve, reject) => {
    const stopListening = onAbort(signal, () => reject(writeAborted()));
    promise.then((value) => (signal.aborted ? late(value) : resolve(value)), reject).finally(stopListening);
  });
}
