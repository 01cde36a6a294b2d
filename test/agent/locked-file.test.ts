import assert from "node:assert/strict";
import path from "node:path";
import { type TestContext, test } from "node:test";
import Database from "libsql";
import { sqliteQuery } from "../../plugins/rdb-sink/sqlite/database.js";
import { type AgentProcess, startAgent } from "../support/agent-process.js";
import { settledBooks } from "../support/channel-books.js";
import { httpAgent } from "../support/http-agent.js";
import { postEntities } from "../support/post-entities.js";
import { room } from "../support/storing-agent.js";
import { tempFolder } from "../support/temp-folder.js";
import { until } from "../support/until.js";

const properties = httpAgent({
  channel: "file",
  sink: "rdb",
  lines: [
    "a.sinks.k.rdb_dialect = sqlite",
    "a.sinks.k.data_model = dm-by-entity-type",
    "a.sinks.k.batch_retry_intervals = 100",
  ],
});

async function post(agent: AgentProcess, service: string, n: number): Promise<void> {
  await postEntities(agent, [room(n)], service);
}

/** Locks the file of a service, in another process than the agent. */
function lock(context: TestContext, folder: string, service: string): { end(): void } {
  const file = new Database(path.join(folder, `${service}.db`));
  context.after(() => file.close());
  file.exec("BEGIN EXCLUSIVE");
  return { end: () => file.exec("ROLLBACK") };
}

async function rows(folder: string, service: string): Promise<number> {
  return Number((await sqliteQuery(folder, `SELECT count(*) FROM ${service}.room`)).rows[0]?.[0]);
}

test("a SQLite file that another program keeps locked holds up no other service, and its events are stored once when it ends", async (context) => {
  const folder = await tempFolder(context);
  const data = path.join(folder, "data");
  // A replay by itself, from five seconds after the start of the agent on, would count its event once more.
  const agent = await startAgent(context, { properties, folder, env: { DENEB_DEAD_LETTER_REPLAY: "false" } });
  for (const service of ["good", "bad"]) await post(agent, service, 0);
  await settledBooks(agent);
  const locked = lock(context, data, "bad");

  for (let n = 1; n <= 10; n += 1) for (const service of ["bad", "good"]) await post(agent, service, n);
  const meanwhile = await settledBooks(agent);
  const stored = await rows(data, "good");
  locked.end();
  const replay = await fetch(`${agent.managementUrl}/v1/admin/deadletters/replay`, { method: "POST" });
  await until(
    () => rows(data, "bad"),
    (count) => count >= 11,
  );

  assert.deepEqual([meanwhile.stored, meanwhile.dead_lettered, stored], [12, 10, 11]);
  assert.equal(replay.status, 200);
  assert.equal(await agent.end("SIGTERM"), 0);
  assert.deepEqual([await rows(data, "good"), await rows(data, "bad")], [11, 11]);
});

test("where the only file is kept locked everything waits for it, and nothing becomes a dead letter", async (context) => {
  const folder = await tempFolder(context);
  const data = path.join(folder, "data");
  const agent = await startAgent(context, { properties, folder, env: { DENEB_LOG_LEVEL: "debug" } });
  await post(agent, "bad", 0);
  await settledBooks(agent);
  const locked = lock(context, data, "bad");

  await post(agent, "bad", 1);
  // After the third one the sink is asked whether the file alone is the reason.
  await until(
    async () => agent.lines.filter((line) => "retryInMilliseconds" in line).length,
    (tries) => tries >= 5,
  );
  locked.end();
  const { stored, dead_lettered } = await settledBooks(agent);

  assert.deepEqual([stored, dead_lettered], [2, 0]);
});
