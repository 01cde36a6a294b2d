import { codeOf } from "deneb/sdk";
import { type Cell, type DatabaseError, databaseErrorOf, plain, type SchemaName, type Statement } from "deneb/sql";
import { LOCKED } from "./error-kinds.js";

const WITHOUT_PROCESS = "ER_SPECIFIC_ACCESS_DENIED_ERROR";

/** A lock of a table that no transaction has is reported by the server only where it was set up for that. */
const WITHOUT_TRANSACTION =
  "; no transaction is open: a session keeps it by LOCK TABLES or FLUSH TABLES, or changes the table (performance_schema.metadata_locks, " +
  "or the plugin metadata_lock_info of MariaDB, says which)";

/** Long enough for a server that answers at all. */
export const PATIENCE_MILLIS = 2000;

/** Between the end of a wait and that of a write: so the server ends it, and says why. */
const BEFORE_LIMIT_SECONDS = 1;

/** The same for the limit that an account or a server of MariaDB has for each statement. */
const BEFORE_LIMIT_OF_SERVER = ` /*M! , IF(@@max_statement_time = 0, 31536000,
  GREATEST(1, CAST(FLOOR(@@max_statement_time) AS SIGNED) - ${BEFORE_LIMIT_SECONDS})) */`;

/**
 * Waits for locks that end before a write is abandoned. The server does not notice that the connection of a session which
 * waits for a lock of rows is gone: its sessions would grow by one with each try.
 */
export function lockWaits(limitMillis: number | undefined): string {
  if (limitMillis === undefined) return "lock_wait_timeout = DEFAULT";
  const seconds = Math.max(1, Math.ceil(limitMillis / 1000) - BEFORE_LIMIT_SECONDS);
  const waits = ["lock_wait_timeout", "innodb_lock_wait_timeout"] as const;
  // MySQL takes the lesser of a variable, which has no sign, and a number for a decimal one, and refuses that (1232).
  const lesser = (name: string) => `CAST(LEAST(@@GLOBAL.${name}, ${seconds}${BEFORE_LIMIT_OF_SERVER}) AS SIGNED)`;
  return waits.map((name) => `${name} = ${lesser(name)}`).join(", ");
}

/** The transaction that is open for the longest and waits for nobody: process, user, host and time of its begin. */
export const holder: Statement = plain(
  { database: "", schema: "" },
  `SELECT t.trx_mysql_thread_id, p.user, p.host,
     DATE_FORMAT(t.trx_started - INTERVAL TIMESTAMPDIFF(SECOND, UTC_TIMESTAMP(), NOW()) SECOND, '%Y-%m-%dT%H:%i:%sZ')
   FROM information_schema.innodb_trx t JOIN information_schema.processlist p ON p.id = t.trx_mysql_thread_id
   WHERE t.trx_state <> 'LOCK WAIT' AND p.id <> connection_id() ORDER BY t.trx_started, p.id LIMIT 1`,
);

export function isLocked(error: unknown): boolean {
  return codeOf(error) === LOCKED;
}

/** Has the error say for which table its statement waited. */
export function waitingFor(error: unknown, at: SchemaName | undefined): void {
  if (error instanceof Error && isLocked(error) && at !== undefined && "table" in at)
    error.message += ` (table "${at.schema}.${at.table}")`;
}

/** The same error with the transaction that is open in its message, or with the right that is missing to see it. */
export async function withHolder(
  error: unknown,
  asking: Promise<readonly (readonly Cell[])[]>,
): Promise<DatabaseError> {
  const { code, message } = databaseErrorOf(error);
  const told = (more: string) => Object.assign(new Error(`${message}${more}`, { cause: error }), { code });
  try {
    const [row] = await asking;
    if (row === undefined) return told(WITHOUT_TRANSACTION);
    const [process, user, host, since] = row;
    return told(`; process ${process} of user "${user}" (host "${host}") has a transaction open since ${since}`);
  } catch (cause) {
    return told(codeOf(cause) === WITHOUT_PROCESS ? "; with the right PROCESS this would say whose" : "");
  }
}
