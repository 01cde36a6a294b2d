import { type DatabaseError, type DatabaseErrorReader, databaseErrorOf, type ServerAddress } from "deneb/sql";
import { certificateFault, isOfCertificates } from "../tls-errors.js";

const MISSING = new Set(["ER_BAD_DB_ERROR", "ER_NO_SUCH_TABLE", "ER_BAD_FIELD_ERROR"]);
export const DEADLOCK = "ER_LOCK_DEADLOCK";
/** The code of a node of a Galera cluster that lags behind what the cluster has committed. */
export const NODE_BEHIND = "NODE_BEHIND";
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
const RIGHTS = new Set(["ER_DBACCESS_DENIED_ERROR", "ER_TABLEACCESS_DENIED_ERROR", "ER_COLUMNACCESS_DENIED_ERROR"]);
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
// Triggers, functions, views, and partitions and generated columns of others raise these for single rows; 1906 is a generated
// column of MariaDB.
const DOUBTFUL =
  /^ER_(SIGNAL_|GIS_|VIEW_|NO_PARTITION_FOR_|NON_DEFAULT_VALUE_FOR_GENERATED_|1906$|CANT_CREATE_GEOMETRY|WRONG_VALUE|ILLEGAL_VALUE|DATA_OUT_OF_RANGE|INVALID_|JSON_|DIVISION_BY_ZERO|SUBQUERY_NO_1_ROW|REGEXP_)/;
// Resources such as the disk, connections, conflicts, and what was ended by an operator or a time limit.
const OF_ALL =
  /^ER_(DISK_FULL|RECORD_FILE_FULL|OUT_OF|OUTOFMEMORY|CON_|TOO_MANY_USER_|ACCESS_DENIED|LOCK_|CHECKREAD$|TRANSACTION_ROLLBACK_|USER_LIMIT_|XA_|QUERY_|STATEMENT_TIMEOUT|SERVER_|CONNECTION_|NET_|NORMAL_SHUTDOWN|1969$|3024$)/;
/**
 * Ends what the server says when the system refuses it something: the disk (28, 122 for a quota, 135 of InnoDB), memory (12) or open files
 * (23, 24). A table that cannot be made then says nothing about it, though others have room left.
 */
const OF_THE_SYSTEM = /(?:\((?:OS )?err(?:no|code):? |^Got error )(\d+)\b[^()]*\)?$/i;
const OF_THE_DISK = new Set(["28", "122", "135"]);
const OF_RESOURCES = new Set([...OF_THE_DISK, "12", "23", "24"]);
/** By `max_statement_time` of MariaDB, `max_execution_time` of MySQL. */
const TOO_SLOW = ["ER_STATEMENT_TIMEOUT", "ER_1969", "ER_QUERY_TIMEOUT", "ER_3024"];
/** The code of a write that took too long at the statements of its rows, and not at its commit, which waits for all tables. */
export const ROWS_TOO_SLOW = "ROWS_TOO_SLOW";
// The limit of 1,017 columns of InnoDB has no code of its own in MariaDB.
const TOO_MANY_COLUMNS = /Too many columns/;
/** A transaction that is larger than a node of Galera replicates has no code of its own either. */
const TOO_LARGE_FOR_CLUSTER = /^(Maximum writeset size exceeded|wsrep_max_ws_rows exceeded)/;

/** Begins the code of an error of the whole server that a trigger raised. */
export const RAISED = "RAISED_";

/** Begins the error of a connection over which comes what nobody can read. */
export const UNREADABLE = "what it sends is not the protocol of MySQL";

export const mysqlErrors: DatabaseErrorReader = {
  missing: ({ code }) => code !== undefined && MISSING.has(code),
  raced: ({ code }) => code !== undefined && RACED.has(code),
  tooSlow: coded(...TOO_SLOW, ROWS_TOO_SLOW),
  tooWide: isTooWide,
  doubtful: ({ code = "" }) => DOUBTFUL.test(code),
  ofOnePlace: (error) => {
    const { code = "", opening } = error;
    if (opening === true) return false;
    if (code === ROWS_TOO_SLOW) return true;
    return (
      code.startsWith(RAISED) ||
      (/^(ER|HA_ERR)_/.test(code) && !isOfAll(code) && !takesNoWrites(error) && !lacks(OF_RESOURCES, error))
    );
  },
  retryable: ({ code = "", message }) =>
    !PERMANENT.has(code) && !TOO_MANY_COLUMNS.test(message) && !TOO_LARGE_FOR_CLUSTER.test(message),
  explain: (error, server) =>
    explanations.find(({ when }) => when(error))?.say(server, error) ??
    `${error.opening === true ? "connecting to" : "working with"} ${described(server)} failed: ${error.message}`,
};

function isTooWide({ code, message }: DatabaseError): boolean {
  return code === "ER_TOO_MANY_FIELDS" || code === "ER_TOO_BIG_ROWSIZE" || TOO_MANY_COLUMNS.test(message);
}

/** Whether a code says that the server takes no rows now, whatever their table is. */
export function isOfAll(code: string): boolean {
  return OF_ALL.test(code);
}

/** Whether the system refused the server one of these; what a trigger of others says does not count. */
function lacks(resources: ReadonlySet<string>, { code = "", message }: DatabaseError): boolean {
  return !DOUBTFUL.test(code) && resources.has(OF_THE_SYSTEM.exec(message)?.[1] ?? "");
}

/** Whether a write, or a statement of it, was ended because it took too long. */
export function isTooSlow(error: unknown): boolean {
  const { code = "" } = databaseErrorOf(error);
  return code === "STATEMENT_TIMEOUT" || TOO_SLOW.includes(code);
}

/** Whether the user lacks a privilege. */
export function isForbidden({ code }: DatabaseError): boolean {
  return code !== undefined && RIGHTS.has(code);
}

/** `read_only`, which a primary has after a switchover, and a node of Galera that is outside of its cluster. */
const READ_ONLY = new Set([
  "ER_OPTION_PREVENTS_STATEMENT",
  "ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION",
  "ER_READ_ONLY_MODE",
  "ER_UNKNOWN_COM_ERROR",
]);

/** A commit to such a node of Galera has no code of its own. */
const OUTSIDE_OF_ITS_CLUSTER = /not connected to primary component/i;

/** Whether the server, or this session of it, takes no writes. */
function takesNoWrites({ code = "", message }: DatabaseError): boolean {
  return READ_ONLY.has(code) || OUTSIDE_OF_ITS_CLUSTER.test(message);
}

/** By MySQL, by MariaDB, by MySQL Group Replication, and by Galera in MariaDB. */
const WITHOUT_PRIMARY_KEY = [
  "ER_TABLE_WITHOUT_PK",
  "ER_REQUIRES_PRIMARY_KEY",
  "ER_BEFORE_DML_VALIDATION_ERROR",
  "ER_4165",
];
/** Percona XtraDB Cluster has no code for it. */
const NO_PRIMARY_KEY = /without an explicit primary key/;

/** MySQL adds a key that no query shows to all tables or to none. */
const NO_HIDDEN_KEY = /generat(?:e|ing) invisible primary key/;

/** The second one is that of too many wrong passwords. */
const ACCOUNT_LOCKED = [
  "ER_ACCOUNT_HAS_BEEN_LOCKED",
  "ER_USER_ACCESS_DENIED_FOR_USER_ACCOUNT_BLOCKED_BY_PASSWORD_LOCK",
];
/** What the driver calls that of MariaDB. */
const LOCKED_IN_MARIADB = "ER_BULK_PARSER_INCOMPLETE_ESCAPE_SEQUENCE";

/** Options of connections that are not encrypted; an account that requires TLS is refused like a wrong password. */
const WITHOUT_TLS = /ssl_?mode=(disable|allow)|usessl=false/i;

/** What the driver says of a way to log in that it does not have; the rest of its sentence is for programmers. */
const WAY_TO_LOG_IN = /authentication using unknown plugin (\w+)/;

interface Explanation {
  when(error: DatabaseError): boolean;
  say(server: ServerAddress, error: DatabaseError): string;
}

const explanations: readonly Explanation[] = [
  {
    when: ({ code }) => code === "HANDSHAKE_NO_SSL_SUPPORT",
    say: ({ address, options }) =>
      `the server at ${address} does not offer TLS but rdb_options "${options}" asks for it; use sslMode=PREFERRED or enable TLS`,
  },
  {
    when: isOfCertificates,
    say: (server, error) => certificateFault(error, server, { unchecked: "sslMode=REQUIRED" }),
  },
  {
    when: coded("ER_ACCESS_DENIED_ERROR", "ER_ACCESS_DENIED_NO_PASSWORD_ERROR"),
    say: (server) =>
      `wrong user or password for ${described(server)}; check rdb_username and rdb_password` +
      (WITHOUT_TLS.test(server.options) ? ", and whether the account requires TLS (then sslMode=REQUIRED)" : ""),
  },
  {
    when: (error) => coded(...ACCOUNT_LOCKED)(error) || (error.opening === true && coded(LOCKED_IN_MARIADB)(error)),
    say: (server, { message }) =>
      `${described(server)} refuses the account: ${withoutStop(message)}; ALTER USER ... ACCOUNT UNLOCK lets it in again`,
  },
  {
    when: coded("ER_SECURE_TRANSPORT_REQUIRED"),
    say: (server, { message }) =>
      `${described(server)} takes no connection without TLS: ${withoutStop(message)}; use sslMode=REQUIRED in rdb_options`,
  },
  {
    when: coded("ER_MUST_CHANGE_PASSWORD", "ER_MUST_CHANGE_PASSWORD_LOGIN"),
    say: (server, { message }) =>
      `the password for ${described(server)} has expired: ${message}; give the account another one there and in rdb_password, or ` +
      "run ALTER USER ... PASSWORD EXPIRE NEVER",
  },
  {
    when: ({ message }) => WAY_TO_LOG_IN.test(message),
    say: (server, { message }) =>
      `${described(server)} wants the account to log in by "${WAY_TO_LOG_IN.exec(message)?.[1]}", which Deneb does not have; ` +
      "give the account mysql_native_password or caching_sha2_password (ALTER USER)",
  },
  {
    when: ({ code = "" }) => RIGHTS.has(code),
    say: (server, { message }) => `a right is missing in ${described(server)}: ${message}; grant it to the user`,
  },
  {
    when: ({ code = "" }) => code.startsWith(RAISED),
    say: (server, { code, message }) =>
      `a trigger on ${described(server)} raised ${code?.slice(RAISED.length)}: ${message}`,
  },
  {
    when: isTooWide,
    say: (server, { message }) =>
      `a table on ${described(server)} has too many columns: ${message}; use attr_persistence = row for such entities`,
  },
  {
    when: (error) => coded(...WITHOUT_PRIMARY_KEY)(error) || NO_PRIMARY_KEY.test(error.message),
    say: (server, { message }) =>
      `${described(server)} takes no tables without a primary key, as those of history are: ${message}; set ` +
      "sql_generate_invisible_primary_key = ON there (MySQL), or switch off what asks for the key: sql_require_primary_key, " +
      "pxc_strict_mode, innodb_force_primary_key, or REQUIRED_PRIMARY_KEY in wsrep_mode",
  },
  {
    when: ({ message }) => NO_HIDDEN_KEY.test(message),
    say: (server, { message }) =>
      `${described(server)} cannot add the key that sql_generate_invisible_primary_key asks for: ${withoutStop(message)}; set ` +
      "partition = none, or switch that variable and sql_require_primary_key off there",
  },
  {
    when: coded("ER_INDEX_COLUMN_TOO_LONG", "ER_TOO_LONG_KEY"),
    say: (server, { message }) =>
      `${described(server)} does not take the keys of the sink's tables: ${message}; set innodb_default_row_format = dynamic there ` +
      "(an innodb_page_size of less than 16 KB does not do)",
  },
  {
    when: coded("ER_MAX_PREPARED_STMT_COUNT_REACHED"),
    say: (server, { message }) =>
      `${described(server)} has no room for prepared statements: ${message}; raise max_prepared_stmt_count there, up to 1000 for each ` +
      "connection of the agent, or lower rdb_maxPoolSize",
  },
  {
    when: coded("ER_NET_PACKET_TOO_LARGE"),
    say: (server) => `a row is larger than ${described(server)} takes; raise max_allowed_packet`,
  },
  {
    when: ({ message }) => TOO_LARGE_FOR_CLUSTER.test(message),
    say: (server, { message }) =>
      `a row is larger than the cluster of ${described(server)} replicates: ${message}; raise wsrep_max_ws_size on each node`,
  },
  {
    when: coded(NODE_BEHIND),
    say: (server, { message }) =>
      `${described(server)} is a node that lags behind its cluster: ${message}; wait until it has applied what the others committed, ` +
      "raise repl.causal_read_timeout there, or point rdb_host to another node",
  },
  {
    when: ({ message }) => message.startsWith(UNREADABLE),
    say: (server, { message }) =>
      `${described(server)} cannot be understood: ${message}; check that rdb_host and rdb_port lead to a MySQL or MariaDB`,
  },
  {
    when: coded("ECONNREFUSED"),
    say: ({ address }) =>
      `connection refused: no server listens at ${address}; start it or check rdb_host and rdb_port`,
  },
  {
    when: coded("EAI_AGAIN"),
    say: ({ address }) => `the host of ${address} cannot be looked up now: no name server answers; check DNS`,
  },
  {
    when: coded("ENOTFOUND"),
    say: ({ address }) => `the host of ${address} is not known; check rdb_host`,
  },
  {
    when: coded("ETIMEDOUT", "EHOSTUNREACH", "ENETUNREACH", "STATEMENT_TIMEOUT"),
    say: (server) => `no answer in time from ${described(server)}; check rdb_host, rdb_port and the network`,
  },
  {
    when: (error) => coded("ER_DISK_FULL", "ER_RECORD_FILE_FULL")(error) || lacks(OF_THE_DISK, error),
    say: (server) => `the disk of ${described(server)} is full; free space there`,
  },
  {
    when: coded("ER_CON_COUNT_ERROR", "ER_TOO_MANY_USER_CONNECTIONS"),
    say: (server, { message }) =>
      `${described(server)} has no connection left: ${message}; raise that limit, or lower rdb_maxPoolSize`,
  },
  {
    when: coded("ER_USER_LIMIT_REACHED"),
    say: (server, { message }) => `${described(server)} has reached a limit of its account: ${message}; raise it`,
  },
  {
    when: coded("ER_LOCK_WAIT_TIMEOUT"),
    say: (server, { message }) =>
      `somebody keeps rows or a table of ${described(server)} locked: ${message}; end that transaction (SHOW FULL PROCESSLIST), ` +
      "or raise rdb_statement_timeout, innodb_lock_wait_timeout and lock_wait_timeout",
  },
  {
    when: coded(...TOO_SLOW),
    say: (server, { message }) =>
      `${described(server)} ended a statement that took too long: ${message}; raise max_execution_time (MySQL) or ` +
      "max_statement_time (MariaDB) for the account",
  },
  {
    when: coded("ER_RUN_HOOK_ERROR"),
    say: (server, { message }) =>
      `${described(server)} replicates no such transaction in its group: ${withoutStop(message)}; its log says why: one larger than ` +
      "group_replication_transaction_size_limit, or a group without a majority",
  },
  {
    when: coded("ER_SERVER_OFFLINE_MODE"),
    say: (server, { message }) =>
      `${described(server)} lets only administrators in: ${message}; set offline_mode = OFF there`,
  },
  {
    when: takesNoWrites,
    say: (server) =>
      `${described(server)} takes no writes now (read-only, or outside of its cluster); point rdb_host to the primary, or to another node`,
  },
  {
    when: coded(
      "ECONNRESET",
      "EPIPE",
      "PROTOCOL_CONNECTION_LOST",
      "ER_SERVER_SHUTDOWN",
      "ER_CONNECTION_KILLED",
      "ER_CLIENT_INTERACTION_TIMEOUT",
    ),
    say: (server, { message }) => `the connection to ${described(server)} broke: ${message}`,
  },
];

function coded(...codes: readonly string[]): Explanation["when"] {
  return ({ code }) => code !== undefined && codes.includes(code);
}

/** The message, for what follows it behind a semicolon. */
function withoutStop(message: string): string {
  return message.replace(/\.$/, "");
}

function described({ address, username }: ServerAddress): string {
  return `the server at ${address} as user "${username}"`;
}
