import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { test } from "node:test";
import { room, storingAgent, storingAgentWith } from "../support/storing-agent.js";
import { until } from "../support/until.js";

test("a sink that hangs on a lock shows ERROR, is started again, and stores when the lock is gone", async (context) => {
  const storing = await storingAgent(
    context,
    "deneb.sinks.rdb-sink.persist_timeout = 1",
    "deneb.sinks.rdb-sink.batch_retry_intervals = 200",
  );
  if (storing === undefined) return;
  const { database, post, ask, settled, agent } = storing;
  assert.equal(await post([room(1)]), 200);
  await settled();
  const status = async () => (await ask("GET", "/v1/stats")).stats.sinks[0].status;

  await database.query("BEGIN");
  await database.query("LOCK TABLE svc.room IN ACCESS EXCLUSIVE MODE");
  assert.equal(await post([room(2)]), 200);
  await until(status, (seen) => seen === "ERROR");
  await database.query("COMMIT");
  await until(status, (seen) => seen === "START");
  const ledger = await settled();

  const rows = await database.query("SELECT DISTINCT entityid FROM svc.room ORDER BY entityid");
  assert.deepEqual(
    rows.map(({ entityid }) => entityid),
    ["urn:room:1", "urn:room:2"],
  );
  assert.deepEqual([ledger.dead_lettered, ledger.unaccounted], [0, 0]);
  assert.match(JSON.stringify(agent.lines), /a write of sink \\"rdb-sink\\" took longer than 1 s/);
});

test("a changed file is noticed without being told", async (context) => {
  const storing = await storingAgentWith(context, { env: { DENEB_RELOAD_INTERVAL: "1" } });
  if (storing === undefined) return;
  const { agent, propertiesFile, properties } = storing;

  await writeFile(propertiesFile, properties("deneb.sinks.rdb-sink.batch_size = 3"));

  const line = await until(
    async () => agent.lines.find(({ msg }) => msg === "configuration reloaded"),
    (seen) => seen !== undefined,
  );
  assert.deepEqual(line?.["started"], ["rdb-sink"]);
});
