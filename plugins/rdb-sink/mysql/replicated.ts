import { type BoundedRows, plain, type Statement } from "deneb/sql";
import type { Connection, RowDataPacket } from "mysql2/promise";
import { path, quoted } from "./statements.js";

/** Begins the text of a statement that is run only where commits wait for a replica. */
const OF_WAIT = "/* waits for a replica */ ";

/** By MySQL before 8.0.26 and MariaDB, and by MySQL since then. */
const SEMI_SYNCHRONOUS = `SHOW GLOBAL VARIABLES WHERE value = 'ON'
  AND variable_name IN ('rpl_semi_sync_master_enabled', 'rpl_semi_sync_source_enabled')`;

/** A value of this session alone; the other columns of the key are empty, which they are in no row of a sink. */
const OWN = "CAST(connection_id() AS CHAR)";

/**
 * Something to commit that leaves no trace: the commit of a transaction that changes nothing waits for nobody. A row that comes and
 * goes is in the binary log in each of its formats, and nobody else waits for it.
 */
export function waitFor({ name, primaryKey }: BoundedRows): readonly Statement[] {
  const cells = primaryKey.map(
    (column, index) => [quoted(column), index === primaryKey.length - 1 ? OWN : "''"] as const,
  );
  const columns = cells.map(([column]) => column).join(", ");
  const values = cells.map(([, value]) => value).join(", ");
  const row = cells.map(([column, value]) => `${column} = ${value}`).join(" AND ");
  return [
    plain(name, `${OF_WAIT}INSERT INTO ${path(name)} (${columns}) VALUES (${values})`),
    plain(name, `${OF_WAIT}DELETE FROM ${path(name)} WHERE ${row}`),
  ];
}

/** Whether it is one of `waitFor`, which is left to `replicated`. */
export function isOfWait({ text }: Statement): boolean {
  return text.startsWith(OF_WAIT);
}

/**
 * Runs those of `waitFor` among the statements where commits wait for a replica (semi-synchronous replication). What the connection
 * has read before is on the replica then. Without that it may not be: a transaction whose commit still waits can be read, and one
 * whose connection broke, or was ended, while it waited counts for the server as any other.
 */
export async function replicated(connection: Connection, statements: readonly Statement[]): Promise<void> {
  const texts = new Set(statements.filter(isOfWait).map(({ text }) => text));
  if (texts.size === 0) return;
  const [enabled] = await connection.query<RowDataPacket[]>(SEMI_SYNCHRONOUS);
  if (enabled.length === 0) return;
  for (const text of ["START TRANSACTION", ...texts, "COMMIT AND NO CHAIN NO RELEASE"]) await connection.query(text);
}
