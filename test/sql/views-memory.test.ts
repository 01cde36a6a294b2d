import assert from "node:assert/strict";
import { test } from "node:test";
import type { Driver } from "../../core/sql/contract/driver.js";
import { Views } from "../../core/sql/features/views.js";
import { openStore } from "../../core/sql/tables/open-store.js";
import { postgresql as dialect } from "../../plugins/rdb-sink/postgresql/dialect.js";
import { postgresqlViews as sql } from "../../plugins/rdb-sink/postgresql/views.js";
import { configOf, never } from "../plugins/rdb-sink/sinks.js";
import { bytesLeftByEach } from "../support/heap-used.js";
import { recordingLog } from "../support/recording-log.js";

const TABLES = 500;
const tables = Array.from({ length: TABLES }, (_, index) => `room_${index}`);
const columns = ["recvtime", "entityid", "entitytype", "temperature", "humidity"];

test("views take no memory for each table that they are over", async () => {
  let schema = 0;
  let written = 0;
  const write = async () => ++written;
  const read: Driver["read"] = async ([statement]) => {
    const text = statement?.text ?? "";
    if (text.includes("known_since")) return tables.map((table) => [table, "history", "Room", "2026-01-01", "rdb"]);
    if (!text.includes("pg_attribute")) return [];
    return tables.flatMap((table) => columns.map((column) => [`service_${schema}`, table, column, "text"]));
  };
  const nothing = async () => undefined;
  const driver: Driver = { probe: nothing, read, write, commitUnits: async () => [], close: nothing };
  const server = { address: "db:5432", database: "postgres", username: "postgres", options: "" };
  const { log, lines } = recordingLog();
  const store = openStore(configOf({}), { dialect, driver, server }, { log });
  const context = { name: "rdb", now: () => new Date(0) };
  const views = new Views({ store, sql, context, flushFacts: nothing });

  const bytes = await bytesLeftByEach(5, async (times) => {
    for (let count = 0; count < times; count += 1) {
      schema += 1;
      views.changed({ database: "", schema: `service_${schema}` });
      await views.flush(never);
    }
  });

  await views.stop();
  assert.deepEqual([lines, written], [[], 3 * schema]);
  assert.ok(bytes < 20_000, `${bytes} bytes for the views of a schema with ${TABLES} tables`);
});
