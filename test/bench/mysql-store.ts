import { type Connection, createConnection, type RowDataPacket } from "mysql2/promise";
import { mysqlOfTests } from "../support/mysql.js";
import type { BenchStore } from "./store.js";
import { deviceTable, freshName, OWN_TABLES, sumOfTables } from "./tables-of-store.js";

/** A service, and so a database, of its own on the MySQL or MariaDB that the tests use. */
export async function mysqlStore(): Promise<BenchStore> {
  const server = mysqlOfTests();
  const reader = await createConnection(server);
  const service = freshName();
  const [[version]] = await reader.query<RowDataPacket[]>("select version() as v");
  return {
    command: /mariadb/i.test(String(version?.["v"])) ? "mariadbd" : "mysqld",
    service,
    properties: {
      rdb_host: server.host,
      rdb_port: String(server.port),
      rdb_username: server.user,
      rdb_password: server.password,
    },
    async countRows() {
      const [tables] = await reader.query<RowDataPacket[]>(
        "select table_name as name from information_schema.tables where table_schema = ? and table_name not like ?",
        [service, OWN_TABLES],
      );
      const names = tables.map((table) => `\`${service}\`.\`${String(table["name"])}\``);
      return await sumOfTables(names, async (sql) => Number((await firstOf(reader, sql))?.["c"] ?? 0));
    },
    async holds(entity, name) {
      try {
        const [rows] = await reader.query<RowDataPacket[]>(
          `select 1 from \`${service}\`.\`${deviceTable(entity)}\` where name = ?`,
          [name],
        );
        return rows.length > 0;
      } catch {
        return false; // The table comes with its first row.
      }
    },
    async drop() {
      await reader.query(`drop database if exists \`${service}\``);
      await reader.end();
    },
  };
}

async function firstOf(reader: Connection, sql: string): Promise<RowDataPacket | undefined> {
  const [rows] = await reader.query<RowDataPacket[]>(sql);
  return rows[0];
}
