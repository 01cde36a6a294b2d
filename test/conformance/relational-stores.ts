import { readdir } from "node:fs/promises";
import { join } from "node:path";
import Database from "libsql";
import type { Event } from "../../core/sdk/index.js";
import type { ConformanceStore } from "../../core/testing/index.js";
import { postgresqlDatabase } from "../support/postgresql.js";

/** An empty database of its own on the PostgreSQL of the tests; undefined when no server answers. */
export async function postgresqlStore(): Promise<ConformanceStore | undefined> {
  const server = await postgresqlDatabase();
  if (server === undefined) return undefined;
  const { host, port, user, password, database, query, drop } = server;
  const names = { rdb_host: host, rdb_port: port, rdb_database: database, rdb_username: user, rdb_password: password };
  return {
    config: { ...names, rdb_options: "sslmode=prefer" },
    async readBack() {
      const tables = await query(
        "SELECT format('%I.%I', table_schema, table_name) AS name FROM information_schema.columns WHERE column_name = 'mark'",
      );
      const marks: string[] = [];
      for (const { name } of tables) {
        const rows = await query(`SELECT mark FROM ${name} ORDER BY ctid`);
        marks.push(...rows.flatMap(({ mark }) => mark ?? []));
      }
      return marks;
    },
    unreachable: { rdb_port: 1 },
    tcp: { host, port, through: (way) => ({ rdb_host: "127.0.0.1", rdb_port: way }) },
    async interrupt() {
      await query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
      );
    },
    poisoned: withNul,
    close: drop,
  };
}

/** SQLite files in a folder. */
export async function sqliteStore(folder: string): Promise<ConformanceStore> {
  return {
    config: { rdb_dialect: "sqlite", rdb_folder: folder },
    async readBack() {
      const files = (await readdir(folder)).filter((name) => name.endsWith(".db")).sort();
      return files.flatMap((file) => marksIn(join(folder, file)));
    },
    poisoned: withNul,
    close: async () => undefined,
  };
}

function marksIn(file: string): readonly string[] {
  const connection = new Database(file);
  try {
    const tables: readonly unknown[] = connection
      .prepare(
        "SELECT m.name FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.type = 'table' AND c.name = 'mark'",
      )
      .raw()
      .all();
    return tables.flat().flatMap((table) => {
      const rows: readonly unknown[] = connection
        .prepare(`SELECT mark FROM "${String(table).replaceAll('"', '""')}" WHERE mark IS NOT NULL ORDER BY rowid`)
        .raw()
        .all();
      return rows.flat().map(String);
    });
  } finally {
    connection.close();
  }
}

/** No database keeps a text with NUL in it. */
export function withNul({ headers, body }: Event): Event {
  const text: unknown = JSON.parse(JSON.stringify(body).replace('"text":"', '"text":"\\u0000'));
  return { headers, body: text };
}
