import { type Cell, type DatabaseError, databaseErrorOf, plain, type Statement } from "deneb/sql";
import { LOCKED, STATEMENT_CANCELED } from "./error-kinds.js";

/** Long enough for a server that answers at all; a catalog may be locked, too. */
export const PATIENCE_MILLIS = 2000;

// What keeps writers out comes first, then what a transaction holds that was left open (a change of a table waits for that, too), then what
// has changed something and rests, as who makes a schema of the same name: who writes just now is no reason. Others may not be told state
// and time of a session.
/** Who holds what others may wait for: table (none for changes of a catalog), process, user, application and time of the transaction. */
export const held: Statement = plain(
  { database: "", schema: "" },
  `SELECT l.relation::regclass::text, l.pid::text, a.usename::text, a.application_name,
     to_char(a.xact_start AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
   FROM pg_locks l CROSS JOIN LATERAL (
     SELECT l.mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock') AS keeps_out) m
   LEFT JOIN pg_class c ON c.oid = l.relation
   LEFT JOIN pg_stat_activity a ON a.pid = l.pid
   WHERE l.granted AND l.pid IS DISTINCT FROM pg_backend_pid() AND CASE l.locktype
     WHEN 'relation' THEN c.relkind IN ('r', 'p') AND (m.keeps_out OR l.pid IS NULL OR a.state LIKE 'idle in transaction%')
       AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
     WHEN 'transactionid' THEN a.datname = current_database() AND a.state IS DISTINCT FROM 'active' ELSE false END
   ORDER BY c.relkind IS NULL, m.keeps_out DESC, a.xact_start, l.relation LIMIT 1`,
);

/** Whether a lock that somebody else holds may be the reason. */
export function mayBeLocked(error: unknown): boolean {
  const { code } = databaseErrorOf(error);
  return code === LOCKED || code === STATEMENT_CANCELED;
}

/** The same error with the rows of {@link held} in its message: who keeps which table locked. */
export function withHolder<Thrown>(error: Thrown, [row]: readonly (readonly Cell[])[]): Thrown | DatabaseError {
  if (row === undefined) return error;
  const { code, message } = databaseErrorOf(error);
  return Object.assign(new Error(`${message}; ${holderOf(row)}`, { cause: error }), { code });
}

/** Whether the message of an error has such a holder. */
export function namesHolder({ message }: DatabaseError): boolean {
  return /; (?:process \d+ of user "|a prepared transaction holds )/.test(message);
}

function holderOf([table, process, user, application, since]: readonly Cell[]): string {
  if (process === undefined) return `a prepared transaction holds ${table} (pg_prepared_xacts)`;
  const time = since === undefined ? "" : ` since ${since}`;
  const what = table === undefined ? "has not committed a change" : `holds ${table} in a transaction`;
  return `process ${process} of user "${user}" (application "${application}") ${what}${time}`;
}
