import type { Connection, RowDataPacket } from "mysql2/promise";
import type { ConformanceStore } from "../../core/testing/index.js";
import { reachedMysql } from "../support/mysql.js";
import { mysqlPrograms } from "../support/mysql-programs.js";
import { startOwnMysql } from "../support/own-mysql.js";
import type { OwnServer } from "../support/provided-server.js";
import { withNul } from "./relational-stores.js";

const system = "'information_schema', 'mysql', 'performance_schema', 'sys'";

/**
 * A MariaDB of our own: the databases have the names of the services of the suites, which others on a shared server
 * have, too. Undefined where its programs are not installed.
 */
export async function ownMysqlServer(): Promise<OwnServer | undefined> {
  const programs = await mysqlPrograms();
  return programs === undefined ? undefined : await startOwnMysql(programs);
}

/** The server without any database. */
export async function mysqlStore({ host, port, user }: OwnServer): Promise<ConformanceStore> {
  const connection = await reachedMysql({ host, port, user });
  if (connection === undefined) throw new Error("the MariaDB of the suites went away");
  const texts = (text: string) => textsOf(connection, text);
  const empty = async () => {
    const databases = await texts(
      `SELECT schema_name FROM information_schema.schemata WHERE schema_name NOT IN (${system})`,
    );
    for (const name of databases) await connection.query(`DROP DATABASE ${ticked(name)}`);
  };
  await empty();
  return {
    config: { rdb_dialect: "mysql", rdb_host: host, rdb_port: port, rdb_username: user },
    async readBack() {
      const tables = await connection.query<RowDataPacket[]>(
        "SELECT table_schema AS a, table_name AS b FROM information_schema.columns WHERE column_name = 'mark'",
      );
      const marks: string[] = [];
      for (const { a, b } of tables[0]) {
        marks.push(
          ...(await texts(`SELECT mark FROM ${ticked(String(a))}.${ticked(String(b))} WHERE mark IS NOT NULL`)),
        );
      }
      return marks;
    },
    unreachable: { rdb_port: 1 },
    tcp: { host, port, through: (way) => ({ rdb_host: "127.0.0.1", rdb_port: way }) },
    async interrupt() {
      const others = await texts(
        `SELECT id FROM information_schema.processlist WHERE id <> connection_id() AND user = '${user}'`,
      );
      for (const id of others) await connection.query(`KILL ${Number(id)}`);
    },
    poisoned: withNul,
    async close() {
      await empty();
      await connection.end();
    },
  };
}

async function textsOf(connection: Connection, text: string): Promise<readonly string[]> {
  const [rows] = await connection.query<RowDataPacket[][]>({ sql: text, rowsAsArray: true });
  return rows.map(([cell]) => String(cell));
}

function ticked(name: string): string {
  return `\`${name.replaceAll("`", "``")}\``;
}
