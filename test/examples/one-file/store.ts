import { access } from "node:fs/promises";
import { oneConnection, type Store } from "deneb/sql";
import Database from "libsql";
import type { OneFileConfig } from "./config.js";
import { oneFile } from "./dialect.js";

/** The file: how it speaks, the way to it, and what it is called in messages. */
export function storeOf({ file }: OneFileConfig): Store {
  const driver = oneConnection({
    open: async (_signal, purpose) => {
      // A query makes no file.
      if (purpose === "query") await access(file);
      const connection = new Database(file);
      if (purpose === "query") connection.exec("PRAGMA query_only = on");
      return connection;
    },
    run: async (connection, text, parameters) => {
      const statement = connection.prepare(text);
      const values = parameters.map((cell) => cell ?? null);
      if (!statement.reader) {
        statement.run(...values);
        return [];
      }
      return textsOf(statement.raw().all(...values));
    },
    ask: async (connection, text) => {
      const statement = connection.prepare(text);
      const columns = statement.columns().map(({ name }) => name);
      return { columns, rows: textsOf(statement.safeIntegers().raw().all()) };
    },
    close: async (connection) => {
      connection.close();
    },
    // Another writer is waited for here, not in the middle.
    begin: "BEGIN IMMEDIATE",
  });
  return { dialect: oneFile, driver, server: { address: file, database: "", username: "", options: "" } };
}

function textsOf(rows: readonly unknown[]): readonly (readonly (string | undefined)[])[] {
  return rows.map((row) => (Array.isArray(row) ? row.map(textOf) : []));
}

function textOf(value: unknown): string | undefined {
  return value === null || value === undefined ? undefined : String(value);
}
