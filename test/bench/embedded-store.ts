import { existsSync } from "node:fs";
import path from "node:path";
import Database from "libsql";
import type { BenchStore } from "./store.js";
import { deviceTable, OWN_TABLES, sumOfTables } from "./tables-of-store.js";

const SERVICE = "bench";

/** The SQLite files that the agent writes below a folder. */
export function embeddedStore(folder: string): BenchStore {
  const file = path.join(folder, `${SERVICE}.db`);
  const read = async <T>(look: (database: Database.Database) => Promise<T>, nothing: T): Promise<T> => {
    if (!existsSync(file)) return nothing;
    const database = new Database(file);
    try {
      return await look(database);
    } finally {
      database.close();
    }
  };
  return {
    command: undefined,
    service: SERVICE,
    properties: { rdb_dialect: "sqlite", rdb_folder: folder },
    countRows: async () =>
      await read(async (database) => {
        const tables = database
          .prepare("select name from sqlite_master where type = 'table' and name not like ?")
          .all(OWN_TABLES);
        const names = tables.map((table) => `"${String(cellOf(table, "name"))}"`);
        return await sumOfTables(names, async (sql) => Number(cellOf(database.prepare(sql).get(), "c") ?? 0));
      }, 0),
    holds: async (entity, name) =>
      await read(async (database) => {
        try {
          return database.prepare(`select 1 from ${deviceTable(entity)} where name = ?`).all(name).length > 0;
        } catch {
          return false; // The table comes with its first row.
        }
      }, false),
    drop: async () => {},
  };
}

function cellOf(row: unknown, name: string): unknown {
  return typeof row === "object" && row !== null ? Object.entries(row).find(([key]) => key === name)?.[1] : undefined;
}
