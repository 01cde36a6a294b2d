import { AgentError, retryableOf } from "../../sdk/index.js";

/** An error of a database or of the way to it, in the two properties every driver gives. */
export interface DatabaseError {
  /** SQLSTATE, the name of a SQLite result, or the code of a Node error. */
  readonly code: string | undefined;
  readonly message: string;
}

/** Where a store is, in words for messages; never a secret. */
export interface ServerAddress {
  /** host:port, or the folder of the files. */
  readonly address: string;
  readonly database: string;
  readonly username: string;
  /** The connection options as written. */
  readonly options: string;
}

/** How a database reports trouble. */
export interface DatabaseErrorReader {
  /** The statement names a schema, table or column that is not there (any more). */
  missing(error: DatabaseError): boolean;
  /** Somebody else made the same thing at the same time; making it again finds it there. */
  raced(error: DatabaseError): boolean;
  /** False when the data will never go in. */
  retryable(error: DatabaseError): boolean;
  /** The user lacks a right; absent where nothing depends on it. */
  forbidden?(error: DatabaseError): boolean;
  /** True for an error that may pass and may as well be about the data: a trigger, a function, an internal error. */
  doubtful?(error: DatabaseError): boolean;
  /** One line: what happened, where, and what to do. */
  explain(error: DatabaseError, server: ServerAddress): string;
}

/** Reads any thrown value. */
export function databaseErrorOf(error: unknown): DatabaseError {
  if (typeof error !== "object" || error === null) return { code: undefined, message: String(error) };
  const code = "code" in error && typeof error.code === "string" ? error.code : undefined;
  return { code, message: oneLine(messageOf(error)) };
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

/** What a driver threw, as one clear line that says where, and whether to try again. */
export function storeError(error: unknown, errors: DatabaseErrorReader, server: ServerAddress): unknown {
  if (retryableOf(error) !== undefined) return error;
  const databaseError = databaseErrorOf(error);
  const retryable = errors.retryable(databaseError);
  const code = retryable ? "STORE_UNAVAILABLE" : "DATA_REFUSED";
  return new AgentError(code, errors.explain(databaseError, server), { cause: error, retryable });
}

/** Which errors of a database mean what: each is looked for in `<code> <message>` of the error. */
export interface ErrorPatterns {
  /** What people call the database. */
  readonly name: string;
  /** A schema, table or column is not there. */
  readonly missing: RegExp;
  /** A schema, table or column is there already. */
  readonly raced: RegExp;
  /** The data will never go in; everything else means that the database is away and the batch is tried again. */
  readonly refused: RegExp;
}

/** Reads the errors of a database by patterns. */
export function errorPatterns({ name, missing, raced, refused }: ErrorPatterns): DatabaseErrorReader {
  return {
    missing: (databaseError) => missing.test(textOf(databaseError)),
    raced: (databaseError) => raced.test(textOf(databaseError)),
    retryable: (databaseError) => !refused.test(textOf(databaseError)),
    explain: (databaseError, { address }) => {
      const verb = refused.test(textOf(databaseError)) ? "refused the data" : "cannot be used";
      return `${name} at "${address}" ${verb}: ${textOf(databaseError)}`;
    },
  };
}

function textOf({ code, message }: DatabaseError): string {
  return code === undefined ? message : `${code} ${message}`;
}
