import { AgentError, codeOf, type Examiner, onAbort, type Probe, type QueryResult } from "../../sdk/index.js";
import type { ServerAddress } from "./database-error.js";
import type { Dialect } from "./dialect.js";
import type { Cell, SchemaName, Statement, TableName } from "./statement.js";

/** Runs statements on a database. It throws what its npm package throws; the dialect classifies that. @beta */
export interface Driver {
  /** Checks once that the store can be used; throws if not. */
  probe(signal: AbortSignal): Promise<void>;
  /**
   * Resolves when it is known what the server makes of names (`allowed` of the dialect). Absent where that does not depend on the
   * server.
   */
  knowsNames?(signal: AbortSignal): Promise<void>;
  /** The rows of all statements in order; none of a database that does not exist. */
  read(statements: readonly Statement[], signal: AbortSignal): Promise<readonly (readonly Cell[])[]>;
  /**
   * The rows of one statement, as they are read, in lists of about this many: a result may be larger than the memory. All
   * are of one moment. Absent: `read` is used, which holds all rows.
   */
  pages?(statement: Statement, rows: number, signal: AbortSignal): AsyncIterable<readonly (readonly Cell[])[]>;
  /**
   * Runs the statements in order, in one transaction for each commit unit, and resolves to the size of the responses in
   * bytes. If only some commit units were committed, it throws {@link PartlyWritten}. If a statement with `changes`
   * changes another number of rows, or violates the unique key of its table, the transaction is rolled back and {@link
   * unexpectedChanges} is thrown.
   */
  write(statements: readonly Statement[], signal: AbortSignal): Promise<number>;
  /**
   * Runs a statement by itself: in no transaction, and without the time limit of others, because it may take as long as
   * a table is large. Absent where `write` does that.
   */
  alone?(statement: Statement, signal: AbortSignal): Promise<void>;
  /**
   * The answer to one statement of a person, over a connection of its own that cannot change anything; for {@link
   * querySql}. Absent: the sink has no `deneb sql`.
   */
  query?(text: string, signal: AbortSignal): Promise<QueryResult>;
  /** The known commit units that may hold tables: databases, or schemas with a file of their own. */
  commitUnits(signal: AbortSignal): Promise<readonly SchemaName[]>;
  /** Closes connections and threads; may be called twice. When the signal is aborted, running work is abandoned. */
  close(signal: AbortSignal): Promise<void>;
}

/** The statements of some commit units are committed, the others are not because of `cause`. @beta */
export class PartlyWritten extends Error {
  /** Whether the statements of this commit unit are committed. */
  readonly wrote: (unit: SchemaName) => boolean;

  constructor(wrote: (unit: SchemaName) => boolean, cause: unknown) {
    super("a part of the batch is written", { cause });
    this.wrote = wrote;
  }
}

/** The error that a driver throws when the signal is aborted. @beta */
export function writeAborted(): AgentError {
  return new AgentError("WRITE_ABORTED", "the write was aborted before it was done", { retryable: true });
}

const UNEXPECTED_CHANGES = "UNEXPECTED_CHANGES";

/**
 * The error that a driver throws when a statement changed an unexpected number of rows because of another process.
 * @beta
 */
export function unexpectedChanges(): AgentError {
  return new AgentError(UNEXPECTED_CHANGES, "a row has unexpected values; nothing is written", { retryable: true });
}

/** Whether an error is that of {@link unexpectedChanges}. @beta */
export function isUnexpectedChanges(error: unknown): boolean {
  return codeOf(error) === UNEXPECTED_CHANGES;
}

/**
 * Waits for the promise or the signal, whichever comes first; a value that arrives after the signal is passed to
 * `late`.
 * @beta
 */
export async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal, late: (value: T) => void): Promise<T> {
  return await new Promise<T>((resolve, reject) => {
    const stopListening = onAbort(signal, () => reject(writeAborted()));
    promise.then((value) => (signal.aborted ? late(value) : resolve(value)), reject).finally(stopListening);
  });
}

/** A database to write to: its dialect, driver and address. @beta */
export interface Store {
  readonly dialect: Dialect;
  readonly driver: Driver;
  readonly server: ServerAddress;
  /** Chooses the database of the bookkeeping tables; absent where that is fixed. */
  readonly bookkeepingDatabase?: BookkeepingDatabase;
  /**
   * What `deneb check --connect` tries: whether the store can be reached, and whether its user may do what the sink does; `next`
   * needs a store that can be read. Absent: the `probe` of the driver.
   */
  probes?(examiner: Examiner, next: readonly Probe[]): readonly Probe[];
}

/** Runs the work, and calls `abort` once if the signal is aborted before or during it. @beta */
export async function abortable<T>(signal: AbortSignal, abort: () => void, work: () => Promise<T>): Promise<T> {
  const stopListening = onAbort(signal, abort);
  try {
    return await work();
  } finally {
    stopListening();
  }
}

/** Chooses the database in which a sink keeps positions and replayed dead letters. @beta */
export interface BookkeepingDatabase {
  /** What the configuration names; absent or empty where it names none. */
  readonly configured?: string;
  /**
   * Called before positions or dead letters are read for a write, or written. Resolves to false if there is no table yet
   * and `written`, the database of the rows, is not given. Rejects with the error of the last database that was tried.
   */
  settle(tables: BookkeepingTables, written?: string): Promise<boolean>;
}

/** What a sink does for a {@link BookkeepingDatabase}. @beta */
export interface BookkeepingTables {
  /** The databases in which earlier runs kept positions. */
  earlier(): Promise<readonly string[]>;
  /** Creates the table of positions unless it exists. */
  create(name: TableName): Promise<void>;
  /** Logs a warning. */
  warn(fields: object, message: string): void;
}
