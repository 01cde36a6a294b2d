import { oneConnection, type Store } from "deneb/sql";
import Database from "libsql";
import type { OneFileConfig } from "./config.js";
import { oneFile } from "./dialect.js";

/** The file: how it speaks, the way to it, and what it is called in messages. */
export function storeOf({ file }: OneFileConfig): Store {
  const driver = oneConnection({
    open: async () => new Database(file),
    run: async (connection, text, parameters) => {
      const statement = connection.prepare(text);
      const values = parameters.map((cell) => cell ?? null);
      if (!statement.reader) {
        statement.run(...values);
        return [];
      }
      const rows: readonly unknown[] = statement.raw().all(...values);
      return rows.map((row) => (Array.isArray(row) ? row.map(textOf) : []));
    },
    close: async (connection) => {
      connection.close();
    },
  });
  return { dialect: oneFile, driver, server: { address: file, database: "", username: "", options: "" } };
}

function textOf(value: unknown): string | undefined {
  return value === null || value === undefined ? undefined : String(value);
}
