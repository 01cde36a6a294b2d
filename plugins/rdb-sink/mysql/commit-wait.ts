import { type BoundedRows, databaseErrorOf, plain, type Statement } from "deneb/sql";
import type { Connection } from "mysql2/promise";
import { isForbidden } from "./error-kinds.js";
import { path, quoted } from "./statements.js";

/** Begins the text of a statement that is left to `awaitCommits`. */
const OF_WAIT = "/* waits for the commits before */ ";

/** A value of this session alone; the other columns of the key are empty, which they are in no row of a sink. */
const OWN = "CAST(connection_id() AS CHAR)";

/**
 * Something to commit that leaves no trace: the commit of a transaction that changes nothing waits for nobody. A row that comes and
 * goes is in the binary log in each of its formats, and nobody else waits for it.
 */
export function commitWait({ name, primaryKey }: BoundedRows): readonly Statement[] {
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

/** Whether it is one of `commitWait`. */
export function isOfCommitWait({ text }: Statement): boolean {
  return text.startsWith(OF_WAIT);
}

/**
 * Runs those of `commitWait` among the statements. What the connection has read before is on disk then, and on a replica where commits wait
 * for one (semi-synchronous replication). Without that it may be on neither: a transaction can be read while its commit waits for
 * either, and one whose connection ended meanwhile counts for the server as any other. A user without the right to delete goes without.
 */
export async function awaitCommits(connection: Connection, statements: readonly Statement[]): Promise<void> {
  const texts = new Set(statements.filter(isOfCommitWait).map(({ text }) => text));
  if (texts.size === 0) return;
  try {
    for (const text of ["START TRANSACTION", ...texts, "COMMIT AND NO CHAIN NO RELEASE"]) await connection.query(text);
  } catch (error) {
    if (!isForbidden(databaseErrorOf(error))) throw error;
    await connection.query("ROLLBACK AND NO CHAIN NO RELEASE");
  }
}
