import { codeOf, reasonOf } from "deneb/sdk";
import type { Connection, ResultSetHeader } from "mysql2/promise";
import { DEADLOCK, RAISED } from "./error-kinds.js";
import { isOfAll } from "./errors.js";

/**
 * With the number of an error of the server as its code where the driver knows no name for it; with a code of its own where a SIGNAL gave
 * it the number of an error of the whole server.
 */
export function named(error: unknown): unknown {
  if (!(error instanceof Error) || !("errno" in error)) return error;
  const code = codeOf(error);
  if (code === undefined) return Object.assign(error, { code: `ER_${error.errno}` });
  if (!isOfAll(code) || !("sqlState" in error) || !OF_SIGNALS.test(String(error.sqlState))) return error;
  return raised(error);
}

/** The same error as one of a trigger. */
export function raised(error: unknown): Error {
  return Object.assign(new Error(reasonOf(error), { cause: error }), { code: `${RAISED}${codeOf(error)}` });
}

/** Of the session, in the answers of the server. */
const IN_TRANSACTION = 1;

/** A deadlock ends the transaction, in whatever language the server says so; one that a trigger raises leaves it open. */
export async function isFeignedDeadlock(connection: Connection, error: unknown): Promise<boolean> {
  if (codeOf(error) !== DEADLOCK) return false;
  const [{ serverStatus }] = await connection.query<ResultSetHeader>("DO 0");
  return (serverStatus & IN_TRANSACTION) !== 0;
}

/** The class of states that is left to SIGNAL. */
const OF_SIGNALS = /^45/;
