import type { ServerAddress } from "deneb/sql";
import { certificateFault, isOfCertificates, networkErrors } from "../connection-errors.js";
import { coded, type Explanation, explainedBy, withoutStop } from "../explanation.js";
import {
  isForbidden,
  isOfTheDisk,
  isTooLargeForCluster,
  isTooWide,
  LOCKED,
  NODE_BEHIND,
  RAISED,
  TOO_SLOW,
  takesNoWrites,
  UNREADABLE,
  WITHOUT_KEY,
} from "./error-kinds.js";

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

/** What the driver says of a way to log in that it does not have. */
const WAY_TO_LOG_IN = /authentication using unknown plugin /;

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
    when: coded("ER_ACCESS_DENIED_ERROR"),
    say: (server) =>
      `wrong user or password for ${described(server)}; check rdb_username and rdb_password` +
      (WITHOUT_TLS.test(server.options) ? ", and whether the account requires TLS (then sslMode=REQUIRED)" : ""),
  },
  {
    when: coded(WITHOUT_KEY),
    say: (server, { message }) =>
      `no password can be sent to ${described(server)}, right or wrong: the connection has no TLS and the server has no RSA key ` +
      `(${withoutStop(message)}); enable TLS there, or let it make the key (caching_sha2_password_auto_generate_rsa_keys, ` +
      "sha256_password_auto_generate_rsa_keys)",
  },
  {
    when: coded("ER_ACCESS_DENIED_NO_PASSWORD_ERROR"),
    say: (server, { message }) =>
      `${described(server)} does not let the account log in by a password, as root of a new server that takes unix_socket or ` +
      `auth_socket: ${message}; make a user with a password for the agent`,
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
      `${described(server)} wants the account to log in by a way that Deneb does not have: ${message}; give the account ` +
      "mysql_native_password or caching_sha2_password (ALTER USER), as the first one where it has several (VIA ... OR ...), and check " +
      "rdb_username and rdb_password: for a user that it does not know MariaDB asks for the way of another one, and after a wrong password " +
      "for the next way of the account",
  },
  {
    when: isForbidden,
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
    when: isTooLargeForCluster,
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
  ...networkErrors(described),
  {
    when: (error) => coded("ER_DISK_FULL", "ER_RECORD_FILE_FULL")(error) || isOfTheDisk(error),
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
    when: coded(LOCKED),
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

/** What an error of this server means, for people. */
export const explained = explainedBy(explanations, described);

function described({ address, username }: ServerAddress): string {
  return `the server at ${address} as user "${username}"`;
}
