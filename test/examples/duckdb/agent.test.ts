import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { DuckDBInstance } from "@duckdb/node-api";
import { sampleNotifications, testAgent } from "deneb/sdk/testing";
import plugin from "./index.js";

test("an agent stores values with their types, and the last ones of each entity", async (context) => {
  const folder = await mkdtemp(join(tmpdir(), "duckdb-"));
  context.after(() => rm(folder, { recursive: true }));
  const file = join(folder, "entities.duckdb");
  const own = { data_model: "dm-by-entity-type", attr_native_types: true, last_data_mode: "both" };
  const agent = await testAgent({ plugins: [plugin], config: { sinks: { mine: { type: "duckdb", file, ...own } } } });
  context.after(() => agent.stop());

  await agent.inject(sampleNotifications.ld);
  await agent.inject(sampleNotifications.ld);
  await agent.settled();
  await agent.stop();

  const instance = await DuckDBInstance.create(file);
  const connection = await instance.connect();
  const numbers = async (table: string) =>
    (await connection.runAndReadAll(`SELECT temperature FROM openiot.${table} ORDER BY 1`)).getRows().flat();
  assert.deepEqual(await numbers("room"), [19, 19, 21.5, 21.5]);
  assert.deepEqual(await numbers("room_last_data"), [19, 21.5]);
  connection.closeSync();
  instance.closeSync();
  assert.deepEqual(await agent.deadLetters(), []);
});
