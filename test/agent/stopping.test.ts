import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { smallDisk } from "../crash/small-disk.js";
import { startAgent } from "../support/agent-process.js";
import { room, storingAgent, storingAgentWith } from "../support/storing-agent.js";
import { until } from "../support/until.js";

const away = "deneb.sinks.rdb-sink.rdb_port = 1";
const durable = ["deneb.channels.c.type = file", "deneb.sinks.rdb-sink.batch_ttl"];

test("events that a memory channel holds at a stop become dead letters, and are stored by a replay after the next start", async (context) => {
  const storing = await storingAgent(context, away);
  if (storing === undefined) return;
  const { agent, post, properties, folder, database } = storing;
  assert.equal(await post([room(1), room(2), room(3)]), 200);

  const exitCode = await agent.end("SIGTERM");

  const kept = agent.lines.find(({ msg }) => /^events kept as dead letters: the agent stopped/.test(String(msg)));
  assert.deepEqual([exitCode, kept?.["level"], kept?.["channel"], kept?.["events"]], [0, "error", "c", 3]);
  const next = await startAgent(context, {
    properties: properties(`deneb.sinks.rdb-sink.rdb_port = ${database.port}`),
    folder,
    env: { DENEB_RELOAD_INTERVAL: "0" },
  });
  const letters = async () =>
    JSON.parse(await (await fetch(`${next.managementUrl}/v1/stats`)).text()).stats.dead_letters[0];
  assert.equal((await letters()).num_stopped, 3);
  await fetch(`${next.managementUrl}/v1/admin/deadletters/replay?sink=rdb-sink`, { method: "POST" });
  await until(letters, ({ num_stopped }) => num_stopped === 0);
  const rows = await database.query("SELECT DISTINCT entityid FROM svc.room ORDER BY entityid");
  assert.equal(rows.length, 3);
});

test("an agent that can neither store nor keep events of a memory channel ends with 4 and their number", async (context) => {
  const storing = await storingAgentWith(context, { lines: [away], env: { DENEB_DEAD_LETTER_BYTES: "1" } });
  if (storing === undefined) return;
  const { agent, post } = storing;
  assert.equal(await post([room(1), room(2), room(3)]), 200);

  const exitCode = await agent.end("SIGTERM");

  const last = agent.lines.at(-1);
  assert.deepEqual([exitCode, last?.["level"], last?.["events"]], [4, "error", 3]);
  assert.match(String(last?.["msg"]), /^ended with a loss/);
});

test("an agent whose spillable channel cannot write what it has in memory at a stop ends with 4 and the number", async (context) => {
  const disk = await smallDisk();
  if (disk === undefined) return context.skip("a file system is mounted for this, which needs root on Linux");
  context.after(() => disk.remove());
  const spillable = [
    "deneb.channels.c.type = spillable",
    `deneb.channels.c.checkpointDir = ${disk.folder}/checkpoint`,
    `deneb.channels.c.dataDirs = ${disk.folder}/data`,
  ];
  const storing = await storingAgentWith(context, { lines: [away, ...spillable] });
  if (storing === undefined) return;
  const { agent, post } = storing;
  assert.equal(await post([room(1), room(2), room(3)]), 200);
  await disk.fill();

  const exitCode = await agent.end("SIGTERM");

  const last = agent.lines.at(-1);
  assert.deepEqual([exitCode, last?.["level"], last?.["events"]], [4, "error", 3]);
  assert.match(String(last?.["msg"]), /^ended with a loss/);
});

test("behind a durable channel a stop does not wait for a store that is away", async (context) => {
  const env = { DENEB_GRACE_PERIOD: "3600" };
  const lines = [away, ...durable, "deneb.sinks.rdb-sink.batch_retry_intervals = 3600000"];
  const storing = await storingAgentWith(context, { lines, env });
  if (storing === undefined) return;
  const { agent, post } = storing;
  assert.equal(await post([room(1), room(2), room(3)]), 200);

  const exitCode = await agent.end("SIGTERM");

  const left = agent.lines.find(({ msg }) => msg === "events stay in the channel for the next start");
  assert.deepEqual([exitCode, left?.["events"]], [0, 3]);
});

test("behind a durable channel a stop ends a write that the store does not answer", async (context) => {
  const storing = await storingAgentWith(context, { lines: durable, env: { DENEB_GRACE_PERIOD: "3600" } });
  if (storing === undefined) return;
  const { agent, post, database, settled } = storing;
  assert.equal(await post([room(1)]), 200);
  await settled();
  await database.query("BEGIN");
  await database.query("LOCK TABLE svc.room IN ACCESS EXCLUSIVE MODE");
  assert.equal(await post([room(2)]), 200);

  const exitCode = await agent.end("SIGTERM");
  await database.query("COMMIT");

  assert.equal(exitCode, 0);
});

test("a second signal says what a third one costs, and the third one ends the process with that number", async (context) => {
  const storing = await storingAgentWith(context, { lines: [away], env: { DENEB_GRACE_PERIOD: "3600" } });
  if (storing === undefined) return;
  const { agent, post } = storing;
  assert.equal(await post([room(1), room(2)]), 200);
  const exited = once(agent.process, "exit");
  agent.process.kill("SIGTERM");
  await until(
    async () => agent.lines.some(({ msg }) => msg === "stopping"),
    (seen) => seen,
  );
  agent.process.kill("SIGTERM");
  const second = await until(
    async () => agent.errors.find((line) => line.startsWith("still stopping")),
    (line) => line !== undefined,
  );

  agent.process.kill("SIGTERM");
  const [exitCode] = await exited;

  assert.equal(second, "still stopping: a third signal ends the process at once and loses 2 events in memory");
  assert.equal(exitCode, 4);
});
