import { type DatabaseError, databaseErrorOf } from "deneb/sql";

/** Of a transaction that the server rolled back so that another one goes on. */
export const DEADLOCK = "ER_LOCK_DEADLOCK";
/** The code of a node of a Galera cluster that lags behind what the cluster has committed. */
export const NODE_BEHIND = "NODE_BEHIND";
/** Of an ended wait for a lock: of rows by `innodb_lock_wait_timeout`, of a table by `lock_wait_timeout`. */
export const LOCKED = "ER_LOCK_WAIT_TIMEOUT";
/** By `max_statement_time` of MariaDB, `max_execution_time` of MySQL. */
export const TOO_SLOW = ["ER_STATEMENT_TIMEOUT", "ER_1969", "ER_QUERY_TIMEOUT", "ER_3024"];
/** The code of a write that took too long at the statements of its rows, and not at its commit, which waits for all tables. */
export const ROWS_TOO_SLOW = "ROWS_TOO_SLOW";
/** Begins the code of an error of the whole server that a trigger raised. */
export const RAISED = "RAISED_";
/** The code of an account to which no password could be sent: the server has neither TLS nor a key. */
export const WITHOUT_KEY = "ER_ACCESS_DENIED_WITHOUT_KEY";
/** Begins the error of a connection over which comes what nobody can read. */
export const UNREADABLE = "what it sends is not the protocol of MySQL";

const RIGHTS = new Set(["ER_DBACCESS_DENIED_ERROR", "ER_TABLEACCESS_DENIED_ERROR", "ER_COLUMNACCESS_DENIED_ERROR"]);
// The limit of 1,017 columns of InnoDB has no code of its own in MariaDB.
const TOO_MANY_COLUMNS = /Too many columns/;
/** A transaction that is larger than a node of Galera replicates has no code of its own either. */
const TOO_LARGE_FOR_CLUSTER = /^(Maximum writeset size exceeded|wsrep_max_ws_rows exceeded)/;
// Triggers, functions, views, and partitions and generated columns of others raise these for single rows; 1906 is a generated
// column of MariaDB.
const DOUBTFUL =
  /^ER_(SIGNAL_|GIS_|VIEW_|NO_PARTITION_FOR_|NON_DEFAULT_VALUE_FOR_GENERATED_|1906$|CANT_CREATE_GEOMETRY|WRONG_VALUE|ILLEGAL_VALUE|DATA_OUT_OF_RANGE|INVALID_|JSON_|DIVISION_BY_ZERO|SUBQUERY_NO_1_ROW|REGEXP_)/;
/** So do indexes over expressions and over arrays in MySQL, columns of vectors (6136 to 6138), and functions in generated columns (6527: of times). */
const DOUBTFUL_IN_MYSQL =
  /^ER_(WARN_DATA_\w+_FUNCTIONAL_INDEX|FUNCTIONAL_INDEX_DATA_|EXCEEDED_MV_KEYS_|613[678]$|6527$|DATETIME_FUNCTION_OVERFLOW|(LONG|LAT)ITUDE_OUT_OF_RANGE|(MISSING|MULTIPLE)_JSON_VALUE)/;
/**
 * Ends what the server says when the system refuses it something: the disk (28, 122 for a quota, 135 of InnoDB), memory (12) or open files
 * (23, 24). A table that cannot be made then says nothing about it, though others have room left.
 */
const OF_THE_SYSTEM = /(?:\((?:OS )?err(?:no|code):? |^Got error )(\d+)\b[^()]*\)?$/i;
const OF_THE_DISK = new Set(["28", "122", "135"]);
const OF_RESOURCES = new Set([...OF_THE_DISK, "12", "23", "24"]);
/** `read_only`, which a primary has after a switchover, and a node of Galera that is outside of its cluster. */
const READ_ONLY = new Set([
  "ER_OPTION_PREVENTS_STATEMENT",
  "ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION",
  "ER_READ_ONLY_MODE",
  "ER_UNKNOWN_COM_ERROR",
]);
/** A commit to such a node of Galera has no code of its own. */
const OUTSIDE_OF_ITS_CLUSTER = /not connected to primary component/i;

/** The number that the engine gives to a deadlock. */
const DEADLOCK_OF_ENGINE = /\b149\b/;

/** Whether a member of Group Replication rolled a transaction back at its commit because another member had changed the same rows. */
export function isConflictOfMembers({ code, message }: DatabaseError): boolean {
  if (code === "ER_TRANSACTION_ROLLBACK_DURING_COMMIT") return true;
  return code === "ER_ERROR_DURING_COMMIT" && DEADLOCK_OF_ENGINE.test(message);
}

/** Whether the user lacks a privilege. */
export function isForbidden({ code }: DatabaseError): boolean {
  return code !== undefined && RIGHTS.has(code);
}

/** Whether a write, or a statement of it, was ended because it took too long. */
export function isTooSlow(error: unknown): boolean {
  const { code = "" } = databaseErrorOf(error);
  return code === "STATEMENT_TIMEOUT" || TOO_SLOW.includes(code);
}

export function isTooWide({ code, message }: DatabaseError): boolean {
  return code === "ER_TOO_MANY_FIELDS" || code === "ER_TOO_BIG_ROWSIZE" || TOO_MANY_COLUMNS.test(message);
}

export function isTooLargeForCluster({ message }: DatabaseError): boolean {
  return TOO_LARGE_FOR_CLUSTER.test(message);
}

export function isDoubtful({ code = "" }: DatabaseError): boolean {
  return DOUBTFUL.test(code) || DOUBTFUL_IN_MYSQL.test(code);
}

/** Whether the system refused the server something, be it the disk. */
export function isOfTheSystem(error: DatabaseError): boolean {
  return lacks(OF_RESOURCES, error);
}

export function isOfTheDisk(error: DatabaseError): boolean {
  return lacks(OF_THE_DISK, error);
}

/** What a trigger of others says does not count. */
function lacks(resources: ReadonlySet<string>, error: DatabaseError): boolean {
  return !isDoubtful(error) && resources.has(OF_THE_SYSTEM.exec(error.message)?.[1] ?? "");
}

/** Whether the server, or this session of it, takes no writes. */
export function takesNoWrites({ code = "", message }: DatabaseError): boolean {
  return READ_ONLY.has(code) || OUTSIDE_OF_ITS_CLUSTER.test(message);
}
