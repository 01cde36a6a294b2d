import type { Connection, RowDataPacket } from "mysql2/promise";

/** What a server is asked once for each session. */
export interface ServerFacts {
  /** Of the largest message that it takes. */
  readonly mostBytes: number;
  /** The longest that a statement waits for a lock. */
  readonly lockWaitMillis: number;
  readonly isMariaDb: boolean;
  /** Whether it compares names of columns by all of Unicode. */
  readonly foldsUnicode: boolean;
  /** The value of `lower_case_table_names`. */
  readonly keptNames: number;
  /**
   * Whether it is a node of Galera. When another node takes a row from a transaction between two statements of one text, the server goes on
   * with the next one, outside of any transaction, and says nothing (seen with MariaDB 11.8.9).
   */
  readonly isOfGalera: boolean;
}

export const UNKNOWN = {
  mostBytes: Number.POSITIVE_INFINITY,
  lockWaitMillis: Number.POSITIVE_INFINITY,
  isOfGalera: false,
} as const;

/** The comment is read by MariaDB alone, whatever a fork or a configured `version` calls it; the name counts where a proxy removes comments. */
const FACTS = `SELECT @@max_allowed_packet AS most, 1000 * GREATEST(@@lock_wait_timeout, @@innodb_lock_wait_timeout) AS lockWait,
  VERSION() LIKE '%mariadb%' /*M! OR TRUE */ AS isMariaDb,
  EXISTS (SELECT 1 FROM information_schema.collations WHERE collation_name = 'utf8mb3_general1400_as_ci') AS foldsUnicode,
  @@lower_case_table_names AS keptNames`;

/** Of `lower_case_table_names`: names of databases and tables are kept in lower case, or as they are and compared without case. */
export const IN_LOWER_CASE = 1;
export const WITHOUT_CASE = 2;

export async function serverFacts(connection: Connection): Promise<ServerFacts> {
  const [rows] = await connection.query<RowDataPacket[]>(FACTS);
  const [row] = rows;
  // A server of MySQL has no such variable.
  const [replicates] = await connection.query<RowDataPacket[]>("SHOW SESSION VARIABLES LIKE 'wsrep_on'");
  return {
    mostBytes: Number(row?.["most"]),
    lockWaitMillis: Number(row?.["lockWait"]),
    isMariaDb: Number(row?.["isMariaDb"]) === 1,
    foldsUnicode: Number(row?.["foldsUnicode"]) === 1,
    keptNames: Number(row?.["keptNames"]),
    isOfGalera: replicates[0]?.["Value"] === "ON",
  };
}
