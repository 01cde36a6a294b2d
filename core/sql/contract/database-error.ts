import { AgentError, codeOf, reasonOf, retryableOf } from "../../sdk/index.js";
import { isNotOpened, isUnansweredCommit, statementOf } from "./noted-errors.js";

/** An error of a database or of its connection, reduced to what drivers provide. @beta */
export interface DatabaseError {
  /** SQLSTATE, the name of a SQLite result, or the code of a Node error. */
  readonly code: string | undefined;
  readonly message: string;
  /** The database that it is of, where a store has several and the driver notes it in `database` of what it throws. */
  readonly database?: string;
  /** True for one that {@link notOpened} noted. */
  readonly opening?: true;
}

/** The address of a store for messages. It never holds a secret. @beta */
export interface ServerAddress {
  /** `host:port`, or the folder of the database files. */
  readonly address: string;
  readonly database: string;
  readonly username: string;
  /** The connection options as written. */
  readonly options: string;
}

/** Classifies and explains the errors of a database. @beta */
export interface DatabaseErrorReader {
  /** True if the statement names a schema, table or column that does not exist. */
  missing(error: DatabaseError): boolean;
  /** True if another process created the same object at the same time, so that a second attempt finds it. */
  raced(error: DatabaseError): boolean;
  /** False if the data can never be stored. */
  retryable(error: DatabaseError): boolean;
  /**
   * True for an error that may be transient or may be caused by the data: of a trigger, a function, or an internal one.
   */
  doubtful?(error: DatabaseError): boolean;
  /** True when a statement took longer than it may; the batch is written in parts then. */
  tooSlow?(error: DatabaseError): boolean;
  /**
   * True for an error that may be of one table, schema or file while others take rows: a missing right, a trigger that names a
   * dropped table. Whether it is, a write to another table shows that is rolled back; with `opening`, one to another commit unit.
   */
  ofOnePlace?(error: DatabaseError): boolean;
  /** True if a table cannot get the columns that a statement adds to it, because it has too many. */
  tooWide?(error: DatabaseError): boolean;
  /** One line that says what happened, where, and what to do. */
  explain(error: DatabaseError, server: ServerAddress): string;
}

/** Converts any thrown value. @beta */
export function databaseErrorOf(error: unknown): DatabaseError {
  if (typeof error !== "object" || error === null) return { code: undefined, message: String(error) };
  const code = "code" in error && typeof error.code === "string" ? error.code : undefined;
  const named = "database" in error && typeof error.database === "string" ? { database: error.database } : {};
  const opening = isNotOpened(error) ? ({ opening: true } as const) : {};
  return { code, message: oneLine(messageOf(error)), ...named, ...opening };
}

// A host with several addresses fails with an AggregateError, whose own message is empty.
function messageOf(error: object): string {
  const message = "message" in error && typeof error.message === "string" ? error.message : "";
  if (message !== "" || !(error instanceof AggregateError)) return message;
  return error.errors.map((one) => databaseErrorOf(one).message).join(", ");
}

function oneLine(message: string): string {
  return message.replace(/\s+/g, " ").slice(0, 300);
}

/** Converts what a driver threw to an error with a one-line message, `retryable` and `mayBeStored`. @beta */
export function storeError(error: unknown, errors: DatabaseErrorReader, server: ServerAddress): unknown {
  const databaseError = databaseErrorOf(error);
  const said = retryableOf(error);
  const mayBeStored = isUnansweredCommit(error);
  if (said === true || (said === false && databaseError.opening !== true))
    return mayBeStored ? inDoubt(error, said) : error;
  const { tooSlow, doubtful, ofOnePlace, retryable: mayPass } = ofStatements(errors);
  const mayBeOfTable = (one: DatabaseError) => doubtful(one) || (one.opening !== true && ofOnePlace(one));
  const retryable = mayPass(databaseError);
  const unavailable = tooSlow(databaseError) ? "STATEMENT_TIMEOUT" : "STORE_UNAVAILABLE";
  const code = retryable ? unavailable : "DATA_REFUSED";
  const where = retryable && !mayBeOfTable(databaseError) ? "" : whereOf(error);
  return new AgentError(code, `${errors.explain(databaseError, server)}${where}`, {
    cause: error,
    retryable,
    mayBeStored,
  });
}

/** Such as that of a write that was aborted while it was committed. */
function inDoubt(cause: unknown, retryable: boolean): AgentError {
  return new AgentError(codeOf(cause) ?? "STORE_UNAVAILABLE", reasonOf(cause), { cause, retryable, mayBeStored: true });
}

/** The table whose statement was refused: few errors of a server name it. */
function whereOf(error: unknown): string {
  const at = statementOf(error)?.at;
  return at !== undefined && "table" in at ? `; the table is "${at.schema}.${at.table}"` : "";
}

/**
 * Reads errors as the reader of a dialect does. Where no statement was run, no code says anything of rows: the store is unavailable, or one
 * database of several.
 */
export function ofStatements(errors: DatabaseErrorReader): Required<DatabaseErrorReader> {
  type Question = "missing" | "raced" | "doubtful" | "tooSlow" | "tooWide";
  const unlessOpening = (question: Question) => (error: DatabaseError) =>
    error.opening !== true && errors[question]?.(error) === true;
  return {
    missing: unlessOpening("missing"),
    raced: unlessOpening("raced"),
    doubtful: unlessOpening("doubtful"),
    tooSlow: unlessOpening("tooSlow"),
    tooWide: unlessOpening("tooWide"),
    ofOnePlace: (error) => errors.ofOnePlace?.(error) === true,
    retryable: (error) => error.opening === true || errors.retryable(error),
    explain: (error, server) => errors.explain(error, server),
  };
}

/** Patterns that classify the errors of a database. Each is matched against `<code> <message>`. @beta */
export interface ErrorPatterns {
  /** The name of the database product, for messages. */
  readonly name: string;
  /** A schema, table or column does not exist. */
  readonly missing: RegExp;
  /** A schema, table or column exists already. */
  readonly raced: RegExp;
  /** The data can never be stored. Any other error means that the database is unavailable, and the batch is retried. */
  readonly refused: RegExp;
}

/** A reader of database errors from patterns. @beta */
export function errorPatterns({ name, missing, raced, refused }: ErrorPatterns): DatabaseErrorReader {
  return {
    missing: (databaseError) => missing.test(textOf(databaseError)),
    raced: (databaseError) => raced.test(textOf(databaseError)),
    retryable: (databaseError) => !refused.test(textOf(databaseError)),
    explain: (databaseError, { address }) => {
      const isRefused = databaseError.opening !== true && refused.test(textOf(databaseError));
      const verb = isRefused ? "refused the data" : "cannot be used";
      return `${name} at "${address}" ${verb}: ${textOf(databaseError)}`;
    },
  };
}

function textOf({ code, message }: DatabaseError): string {
  return code === undefined ? message : `${code} ${message}`;
}
