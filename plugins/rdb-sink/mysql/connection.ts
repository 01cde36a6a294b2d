import { isIP } from "node:net";
import { AgentError, onAbort, type QueryResult } from "deneb/sdk";
import { notOpened } from "deneb/sql";
import type { Connection, ConnectionOptions, RowDataPacket } from "mysql2/promise";
import { connectBySslMode, type Encryption } from "../encryption.js";
import type { ServerSettings } from "../server.js";
import { openConnection } from "./open-connection.js";

// The number of prepared statements of one connection; a server has a limit of some thousands for all.
const MOST_PREPARED = 1000;

/**
 * A server or an account may begin its sessions with another character set (`init_connect`). The driver would write texts in that one:
 * without the characters that it lacks, and with others that end a text of a statement.
 */
export const TEXTS = `SET SESSION character_set_client = utf8mb4, character_set_results = utf8mb4,
  collation_connection = utf8mb4_unicode_ci`;

/** That of the server if it has transactions, else InnoDB, where there is one. */
const ENGINE = `SELECT engine FROM information_schema.engines WHERE support IN ('YES', 'DEFAULT')
  ORDER BY transactions = 'YES' AND engine = @@default_storage_engine DESC, engine = 'InnoDB' DESC,
    engine = @@default_storage_engine DESC LIMIT 1`;

/** The greatest value, which is that of a server on which nobody has set it. */
const NO_LIMIT = "18446744073709551615";

/**
 * What the sink relies on, whatever a server or an account begins its sessions with. Without autocommit a read would open a
 * transaction that shows later reads the past, without the strict mode values are cut to fit their column, texts in statements are
 * written with backslashes, and a new table without transactions would keep rows of a batch that failed. Limits that keep people from
 * large answers would make tables and rows that are there look absent (`sql_select_limit`), or fail a statement (the other two).
 */
export const SESSION = `${TEXTS}, autocommit = 1,
  sql_mode = 'STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION', default_storage_engine = (${ENGINE}),
  sql_select_limit = ${NO_LIMIT}, sql_big_selects = 1, sql_safe_updates = 0`;

/** The settings of one connection for `mysql2`. */
export function connectionOptions(settings: ServerSettings, encryption: Encryption): ConnectionOptions {
  const { options } = settings;
  return {
    host: settings.host,
    port: settings.port,
    user: settings.username,
    password: settings.password,
    // All of Unicode, with the collation of the server.
    charset: "UTF8MB4_UNICODE_CI",
    connectTimeout: options.connectTimeoutMillis ?? settings.connectTimeoutMillis,
    enableKeepAlive: true,
    multipleStatements: false,
    maxPreparedStatements: MOST_PREPARED,
    connectAttributes: { program_name: options.applicationName ?? "deneb" },
    ...(encryption === false ? {} : { ssl: sslOptions(encryption, settings.host) }),
  };
}

/** Whether the other encryption may succeed: the server has no TLS, or requires it. */
export function wantsOtherEncryption(error: unknown): boolean {
  if (typeof error !== "object" || error === null || !("code" in error)) return false;
  return error.code === "HANDSHAKE_NO_SSL_SUPPORT" || error.code === "ER_SECURE_TRANSPORT_REQUIRED";
}

function sslOptions(
  encryption: Exclude<Encryption, false>,
  host: string,
): NonNullable<Exclude<ConnectionOptions["ssl"], string>> {
  const { ca, cert, key, rejectUnauthorized, checkServerIdentity } = encryption;
  const verifyIdentity = rejectUnauthorized === true && checkServerIdentity === undefined;
  // mysql2 would look for "localhost" in the certificate.
  if (verifyIdentity && isIP(host) !== 0) throw nameless(host);
  return {
    ...(Buffer.isBuffer(ca) ? { ca } : {}),
    ...(Buffer.isBuffer(cert) ? { cert } : {}),
    ...(Buffer.isBuffer(key) ? { key } : {}),
    rejectUnauthorized: rejectUnauthorized ?? true,
    verifyIdentity,
  };
}

function nameless(host: string): AgentError {
  const message = `connecting to "${host}": VERIFY_IDENTITY compares the name of the server, and this is an address`;
  return new AgentError("HOST_NAME_NEEDED", `${message}; set rdb_host to the name in the certificate`, {
    retryable: true,
  });
}

/** Does the work over a connection of its own, which ends with the work or with the signal. */
export async function withConnection<T>(
  settings: ServerSettings,
  work: (connection: Connection) => Promise<T>,
  signal: AbortSignal = new AbortController().signal,
): Promise<T> {
  signal.throwIfAborted();
  const made = await opened(settings);
  const connection = made.promise();
  const stopListening = onAbort(signal, () => connection.destroy());
  try {
    await connection.query(TEXTS);
    return await work(connection);
  } finally {
    stopListening();
    if (!signal.aborted) await connection.end();
  }
}

async function opened(settings: ServerSettings) {
  try {
    return await connectBySslMode(settings.options, {
      connect: (way) => openConnection(connectionOptions(settings, way)),
      wantsOther: wantsOtherEncryption,
    });
  } catch (error) {
    throw notOpened(error);
  }
}

/**
 * What a reading statement begins with. Parentheses and comments may come before it, but for comments that a server executes. A read-only
 * transaction refuses changes of tables only: not SET GLOBAL, RESET, PURGE, FLUSH, KILL, SHUTDOWN or ANALYZE TABLE.
 */
const READING =
  /^(?:[\s(]|--[^\n]*\n|#[^\n]*\n|\/\*(?!M?!)(?:[^*]|\*(?!\/))*\*\/)*(?:select|with|values|table|show|desc|describe|explain|analyze\s+(?:format|select|with)|help)\b/i;

/** Runs one statement in a read-only transaction on a separate connection. */
export async function mysqlQuery(settings: ServerSettings, text: string): Promise<QueryResult> {
  if (!READING.test(text)) throw noQuery(text);
  return await withConnection(settings, async (connection) => {
    // For the session: a definition would end a read-only transaction.
    await connection.query("SET SESSION TRANSACTION READ ONLY");
    await connection.query("START TRANSACTION READ ONLY");
    return await answer(connection, text);
  });
}

async function answer(connection: Connection, text: string): Promise<QueryResult> {
  const question = {
    sql: text,
    rowsAsArray: true,
    // The parser that the driver makes of code refuses some names, such as "__proto__", which an attribute may have.
    disableEval: true,
    typeCast: (field: { string(encoding: "utf8"): string | null }) => field.string("utf8"),
  };
  const [rows, fields] = await connection.query<RowDataPacket[][]>(question);
  if (!Array.isArray(rows)) throw noQuery(text);
  return {
    columns: fields.map(({ name }) => name),
    rows: rows.map((row) => row.map((cell) => (typeof cell === "string" ? cell : undefined))),
  };
}

/** Also of one that has no rows, such as SELECT ... INTO. */
function noQuery(text: string): AgentError {
  return new AgentError("NOT_A_QUERY", `running "${text}": it is no query; only reading is allowed`, {
    retryable: false,
  });
}
