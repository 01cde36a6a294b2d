import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorTable } from "../../core/sql/features/error-table.js";
import type { Driver, Statement } from "../../core/sql/index.js";
import { Tables } from "../../core/sql/tables/known-tables.js";
import { sqlite } from "../../plugins/rdb-sink/sqlite/dialect.js";
import { recordingLog } from "../support/recording-log.js";

const never = new AbortController().signal;

test("an error table that is dropped between a row and its clean-up is created again by the next row", async () => {
  const written: string[] = [];
  const driver: Driver = {
    probe: async () => undefined,
    read: async (statements) => {
      if (statements.some(({ text }) => text.includes("count(*)"))) throw new Error("no such table: s_error_log");
      return [];
    },
    write: async (statements: readonly Statement[]) => {
      written.push(...statements.map(({ text }) => text.trim().split(" ", 2).join(" ")));
      return 0;
    },
    commitUnits: async () => [],
    close: async () => undefined,
  };
  const table = new ErrorTable(
    { max_latest_errors: 10 },
    {
      dialect: sqlite,
      driver,
      server: { address: "", database: "", username: "", options: "" },
      tables: new Tables(sqlite.columnKey),
      naming: { database: "sqlite", lowercase: false },
      nativeTypes: false,
      log: recordingLog().log,
    },
  );
  const refused = {
    of: () => ({ database: "", schema: "s" }),
    time: "2026-01-01T00:00:00.000000Z",
    error: new Error("bad"),
    statements: () => [],
  };

  await table.add(refused, never);
  await table.add(refused, never);

  assert.deepEqual(written, ["CREATE TABLE", "INSERT INTO", "CREATE TABLE", "INSERT INTO"]);
});
