import assert from "node:assert/strict";
import { test } from "node:test";
import { autocannonLoad } from "./autocannon.js";
import { agentCase } from "./case.js";
import { measure } from "./measure.js";

test("the harness measures the agent under load, and every accepted notification is one row", async () => {
  const bench = agentCase({ database: "sqlite", channel: "file", batchSize: 1000, entities: 3 });

  const run = await measure(bench, { generator: autocannonLoad, seconds: 1, connections: 4, looks: 1 });

  assert.equal(run.rows?.found, run.rows?.expected);
  assert.equal((run.rows?.found ?? 0) > run.load.accepted, true);
  assert.equal((run.storedPerSecond ?? 0) > 0, true);
  assert.equal((run.visible?.p50 ?? 0) > 0, true);
});
