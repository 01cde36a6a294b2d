import { existsSync } from "node:fs";
import path from "node:path";
import Database from "libsql";
import type { BenchStore } from "./store.js";

/** The SQLite files that the agent writes below a folder. */
export function embeddedStore(folder: string): BenchStore {
  const file = path.join(folder, "bench.db");
  const read = <T>(look: (database: Database.Database) => T, nothing: T): T => {
    if (!existsSync(file)) return nothing;
    const database = new Database(file);
    try {
      return look(database);
    } finally {
      database.close();
    }
  };
  return {
    command: undefined,
    properties: { rdb_dialect: "sqlite", rdb_folder: folder },
    countRows: async () =>
      read((database) => {
        const tables = database.prepare("select name from sqlite_master where type = 'table'").all();
        const counts = tables.map((table) => database.prepare(`select count(*) as c from "${nameOf(table)}"`).all());
        return counts.reduce<number>((sum, [count]) => sum + countOf(count), 0);
      }, 0),
    holds: async (entity, name) =>
      read((database) => {
        try {
          const statement = database.prepare(`select 1 from urn_ngsi_ld_device_bench_${entity} where name = ?`);
          return statement.all(name).length > 0;
        } catch {
          return false; // The table comes with its first row.
        }
      }, false),
    drop: async () => {},
  };
}

function nameOf(row: unknown): string {
  return typeof row === "object" && row !== null && "name" in row ? String(row.name) : "";
}

function countOf(row: unknown): number {
  return typeof row === "object" && row !== null && "c" in row ? Number(row.c) : 0;
}
