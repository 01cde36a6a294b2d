import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { sampleNotifications, testAgent } from "deneb/sdk/testing";
import Database from "libsql";
import plugin from "./index.js";

test("an agent stores each entity of a notification as a row", async (context) => {
  const folder = await mkdtemp(join(tmpdir(), "one-file-"));
  context.after(() => rm(folder, { recursive: true }));
  const file = join(folder, "entities.db");
  const sinks = { mine: { type: "one-file", file, data_model: "dm-by-entity-type" } };
  const agent = await testAgent({ plugins: [plugin], config: { sinks } });
  context.after(() => agent.stop());

  await agent.inject(sampleNotifications.ld);
  await agent.settled();

  const rows = new Database(file).prepare('SELECT temperature FROM "openiot:room" ORDER BY recvtime').raw().all();
  assert.equal(rows.length, 2);
  assert.deepEqual(await agent.deadLetters(), []);
});
