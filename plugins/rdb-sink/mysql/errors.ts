import { codeOf, reasonOf } from "deneb/sdk";
import type { DatabaseErrorReader } from "deneb/sql";
import type { Connection, ResultSetHeader } from "mysql2/promise";
import { coded } from "../explanation.js";
import {
  DEADLOCK,
  isConflictOfMembers,
  isDoubtful,
  isOfTheSystem,
  isTooLargeForCluster,
  isTooWide,
  RAISED,
  ROWS_TOO_SLOW,
  TOO_SLOW,
  takesNoWrites,
} from "./error-kinds.js";
import { explained } from "./explanations.js";
import { isInTransaction } from "./run-statements.js";

const MISSING = new Set(["ER_BAD_DB_ERROR", "ER_NO_SUCH_TABLE", "ER_BAD_FIELD_ERROR"]);
const RACED = new Set([
  "ER_DB_CREATE_EXISTS",
  "ER_TABLE_EXISTS_ERROR",
  "ER_DUP_FIELDNAME",
  DEADLOCK,
  // By `innodb_snapshot_isolation`, which MariaDB has on from 11.6.2: what a trigger had read was changed by another transaction.
  "ER_CHECKREAD",
  "ER_SAME_NAME_PARTITION",
  "ER_RANGE_NOT_INCREASING_ERROR",
  "ER_DROP_PARTITION_NON_EXISTENT",
  "ER_REORG_OUTSIDE_RANGE",
  "ER_PARTITION_MAXVALUE_ERROR",
]);
const PERMANENT = new Set([
  "ER_DATA_TOO_LONG",
  // A number followed by other characters, or a text that is none of an ENUM.
  "WARN_DATA_TRUNCATED",
  "ER_TRUNCATED_WRONG_VALUE",
  "ER_TRUNCATED_WRONG_VALUE_FOR_FIELD",
  "ER_WARN_DATA_OUT_OF_RANGE",
  "ER_DUP_ENTRY",
  "ER_BAD_NULL_ERROR",
  "ER_NO_DEFAULT_FOR_FIELD",
  "ER_CONSTRAINT_FAILED",
  "ER_CHECK_CONSTRAINT_VIOLATED",
  // What the driver calls a CHECK of MariaDB, whose text is in the language of the server.
  "ER_INNODB_AUTOEXTEND_SIZE_OUT_OF_RANGE",
  "ER_INVALID_JSON_TEXT",
  "ER_INVALID_CHARACTER_STRING",
  "ER_CANNOT_CONVERT_CHARACTER",
  // A key with letters that its column of others has not.
  "ER_IMPOSSIBLE_STRING_CONVERSION",
  "ER_CANNOT_CONVERT_STRING",
  // Two names of one entity that the server takes for one.
  "ER_FIELD_SPECIFIED_TWICE",
  "ER_TOO_MANY_FIELDS",
  "ER_TOO_BIG_ROWSIZE",
  "ER_TOO_LONG_IDENT",
  "ER_TOO_LONG_KEY",
  "ER_WRONG_COLUMN_NAME",
  "ER_WRONG_TABLE_NAME",
  "ER_WRONG_DB_NAME",
  "ER_KEY_COLUMN_DOES_NOT_EXITS",
  "ER_PARSE_ERROR",
  "ER_PS_MANY_PARAM",
  "ER_NET_PACKET_TOO_LARGE",
  "ER_ROW_IS_REFERENCED_2",
  "ER_NO_REFERENCED_ROW_2",
  "ER_NON_INSERTABLE_TABLE",
  "ER_NON_UPDATABLE_TABLE",
  "ER_WRONG_OBJECT",
]);
// Resources such as the disk, connections, conflicts, and what was ended by an operator or a time limit.
const OF_ALL =
  /^ER_(DISK_FULL|RECORD_FILE_FULL|OUT_OF|OUTOFMEMORY|CON_|TOO_MANY_USER_|ACCESS_DENIED|LOCK_|CHECKREAD$|TRANSACTION_ROLLBACK_|ERROR_DURING_COMMIT$|USER_LIMIT_|XA_|QUERY_|STATEMENT_TIMEOUT|SERVER_|CONNECTION_|NET_|NORMAL_SHUTDOWN|1969$|3024$)/;

export const mysqlErrors: DatabaseErrorReader = {
  missing: ({ code }) => code !== undefined && MISSING.has(code),
  raced: (error) => RACED.has(error.code ?? "") || isConflictOfMembers(error),
  tooSlow: coded(...TOO_SLOW, ROWS_TOO_SLOW),
  tooWide: isTooWide,
  doubtful: isDoubtful,
  ofOnePlace: (error) => {
    const { code = "", opening } = error;
    if (opening === true) return false;
    if (code === ROWS_TOO_SLOW) return true;
    return (
      code.startsWith(RAISED) ||
      (/^(ER|HA_ERR)_/.test(code) && !isOfAll(code) && !takesNoWrites(error) && !isOfTheSystem(error))
    );
  },
  retryable: (error) => !PERMANENT.has(error.code ?? "") && !isTooWide(error) && !isTooLargeForCluster(error),
  explain: explained,
};

/** Whether a code says that the server takes no rows now, whatever their table is. */
export function isOfAll(code: string): boolean {
  return OF_ALL.test(code);
}

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

/** A deadlock ends the transaction, in whatever language the server says so; one that a trigger raises leaves it open. */
export async function isFeignedDeadlock(connection: Connection, error: unknown): Promise<boolean> {
  if (codeOf(error) !== DEADLOCK) return false;
  const [{ serverStatus }] = await connection.query<ResultSetHeader>("DO 0");
  return isInTransaction(serverStatus);
}

/** The class of states that is left to SIGNAL. */
const OF_SIGNALS = /^45/;
