import { access } from "node:fs/promises";
import { type DuckDBConnection, DuckDBInstance, type DuckDBResultReader } from "@duckdb/node-api";
import { oneConnection, type Store } from "deneb/sql";
import type { DuckdbConfig } from "./config.js";
import { duckdb } from "./dialect.js";

interface Opened {
  readonly instance: DuckDBInstance;
  readonly connection: DuckDBConnection;
}

/** The file: how it speaks, the way to it, and what it is called in messages. */
export function storeOf({ file }: DuckdbConfig): Store {
  const driver = oneConnection<Opened>({
    open: async (_signal, purpose) => {
      // A query makes no file.
      if (purpose === "query") await access(file);
      const mode = purpose === "query" ? "READ_ONLY" : "READ_WRITE";
      const instance = await DuckDBInstance.fromCache(file, { access_mode: mode });
      return { instance, connection: await instance.connect() };
    },
    run: async ({ connection }, text, parameters) => {
      const values = parameters.map((cell) => cell ?? null);
      return textsOf(await connection.runAndReadAll(text, values));
    },
    ask: async ({ connection }, text) => {
      const answer = await connection.runAndReadAll(text);
      return { columns: answer.columnNames(), rows: textsOf(answer) };
    },
    close: async ({ connection, instance }) => {
      connection.closeSync();
      instance.closeSync();
    },
  });
  return { dialect: duckdb, driver, server: { address: file, database: "", username: "", options: "" } };
}

/** Values print themselves as DuckDB does. */
function textsOf(answer: DuckDBResultReader): readonly (readonly (string | undefined)[])[] {
  return answer.getRows().map((row) => row.map((value) => (value === null ? undefined : String(value))));
}
