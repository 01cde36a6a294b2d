import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { type TestContext, test } from "node:test";
import { type AgentProcess, startAgent } from "../support/agent-process.js";
import { settledBooks } from "../support/channel-books.js";
import { postEntities } from "../support/post-entities.js";
import { type CliResult, runHere } from "../support/run-cli.js";
import { room, type StoringAgent, storingAgentWith } from "../support/storing-agent.js";
import { until } from "../support/until.js";
import { wayToPostgresql } from "../support/way-to-postgresql.js";

const away = "deneb.sinks.rdb-sink.rdb_port = 1";
const env = { DENEB_RELOAD_INTERVAL: "0", DENEB_GRACE_PERIOD: "1" };
const channels = {
  file: ["deneb.channels.c.type = file", "deneb.sinks.rdb-sink.batch_ttl"],
  memory: ["deneb.channels.c.type = memory"],
} as const;

/** The command with the file of the agent; without an agent nothing answers at its port. */
async function erase(storing: StoringAgent, agent: AgentProcess | undefined, ...args: readonly string[]) {
  const port = agent === undefined ? "1" : new URL(agent.managementUrl).port;
  const where = ["--data-dir", path.join(storing.folder, "data"), "--management-port", port];
  return await runHere(["erase", "--config", storing.propertiesFile, ...where, ...args]);
}

async function post(agent: AgentProcess, ...rooms: readonly number[]): Promise<void> {
  await postEntities(
    agent,
    rooms.map((n) => room(n)),
  );
}

async function storedIn({ database }: StoringAgent): Promise<readonly unknown[]> {
  return (await database.query("SELECT entityid FROM svc.room ORDER BY entityid")).map((row) => row["entityid"]);
}

async function verified(storing: StoringAgent, agent: AgentProcess): Promise<CliResult> {
  const { port } = new URL(agent.managementUrl);
  return await runHere(["verify", "--config", storing.propertiesFile, "--management-port", port]);
}

/** An agent that has stored rooms 1 and 2, was stopped, and runs again without its store. */
async function agentWithoutStore(
  context: TestContext,
  kind: keyof typeof channels,
): Promise<{ readonly storing: StoringAgent; readonly agent: AgentProcess } | undefined> {
  const storing = await storingAgentWith(context, { lines: channels[kind] });
  if (storing === undefined) return undefined;
  assert.equal(await storing.post([room(1), room(2)]), 200);
  await storing.settled();
  await storing.agent.end("SIGTERM");
  const agent = await startAgent(context, { properties: storing.properties(away), folder: storing.folder, env });
  return { storing, agent };
}

test("events that wait in a channel on disk are left out, and the books stay balanced", async (context) => {
  const made = await agentWithoutStore(context, "file");
  if (made === undefined) return;
  const { storing, agent } = made;
  await post(agent, 1, 2, 1);

  const dry = await erase(storing, agent, "--entity", "urn:room:1");
  const done = await erase(storing, agent, "--entity", "urn:room:1", "--yes");
  // The list of erasures is on disk before the answer.
  await agent.end("SIGKILL");
  const next = await startAgent(context, { properties: storing.properties(), folder: storing.folder, env });
  const books = await settledBooks(next);
  const rows = await erase(storing, next, "--entity", "urn:room:1", "--yes", "--json");
  await post(next, 1);
  await settledBooks(next);

  assert.deepEqual([dry.code, done.code], [5, 5]);
  assert.match(dry.stdout, /channel c: 3 events wait; those to erase would not be stored/);
  assert.match(done.stderr, /left: its store of sink rdb-sink: /);
  assert.deepEqual([books.stored, books.filtered, books.unaccounted], [3, 2, 0]);
  const report = JSON.parse(rows.stdout);
  assert.equal(rows.code, 0, rows.stderr);
  assert.deepEqual([report.complete, report.sinks[0].erased[0].rows], [true, 1]);
  assert.deepEqual(await storedIn(storing), ["urn:room:1", "urn:room:2", "urn:room:2"]);
  const { code, stderr } = await verified(storing, next);
  assert.deepEqual([code, stderr], [0, ""]);
});

test("events in memory are left out too, and those kept at a stop are dead letters of others only", async (context) => {
  const made = await agentWithoutStore(context, "memory");
  if (made === undefined) return;
  const { storing, agent } = made;
  await post(agent, 1, 2);

  await erase(storing, agent, "--entity", "urn:room:1", "--yes");
  await agent.end("SIGTERM");
  const letters = await runHere(["dead-letters", "list", "--json", "--data-dir", path.join(storing.folder, "data")]);

  assert.deepEqual(
    JSON.parse(letters.stdout).map((letter: { entityId: string }) => letter.entityId),
    ["urn:room:2"],
  );
});

test("dead letters are erased by the agent that runs and in the directory of one that is stopped", async (context) => {
  const made = await agentWithoutStore(context, "memory");
  if (made === undefined) return;
  const { storing, agent } = made;
  await post(agent, 1, 2, 3);
  await agent.end("SIGTERM");

  const dry = await erase(storing, undefined, "--entity", "urn:room:1");
  const stopped = await erase(storing, undefined, "--entity", "urn:room:1", "--yes");
  const again = await startAgent(context, { properties: storing.properties(away), folder: storing.folder, env });
  const running = await erase(storing, again, "--entity", "urn:room:2", "--service", "svc", "--yes");
  const other = await erase(storing, again, "--service", "another", "--yes");
  const list = await runHere(["dead-letters", "list", "--json", "--data-dir", path.join(storing.folder, "data")]);

  assert.match(dry.stdout, /0 rows and 1 dead letter would be erased/);
  assert.match(stopped.stdout, /0 rows and 1 dead letter erased/);
  assert.match(running.stdout, /0 rows and 1 dead letter erased/);
  assert.match(other.stdout, /0 rows and 0 dead letters erased/);
  assert.deepEqual(
    JSON.parse(list.stdout).map((letter: { entityId: string }) => letter.entityId),
    ["urn:room:3"],
  );
});

test("events in the channel of a stopped agent are left out when it runs again", async (context) => {
  const made = await agentWithoutStore(context, "file");
  if (made === undefined) return;
  const { storing, agent } = made;
  await post(agent, 1, 2);
  await agent.end("SIGKILL");
  const next = { properties: storing.properties(), folder: storing.folder, env };

  await erase(storing, undefined, "--service", "svc", "--yes");
  const again = await startAgent(context, next);
  const books = await settledBooks(again);

  assert.deepEqual([books.stored, books.filtered, books.unaccounted], [2, 2, 0]);
  assert.ok(existsSync(path.join(storing.folder, "data", "erasures.json")));
  const { code, stderr } = await verified(storing, again);
  assert.deepEqual([code, stderr], [0, ""]);
});

test("erase wants to know what to erase", async (context) => {
  const storing = await storingAgentWith(context, {});
  if (storing === undefined) return;

  const none = await erase(storing, storing.agent);
  const empty = await erase(storing, storing.agent, "--entity", "", "--yes");

  assert.deepEqual([none.code, empty.code], [2, 2]);
  assert.match(none.stderr, /give --entity, --service or --table/);
});

test("a table of the selection that no sink has listed is left, and the others are erased", async (context) => {
  const storing = await storingAgentWith(context, {});
  if (storing === undefined) return;
  assert.equal(await storing.post([room(1)]), 200);
  await storing.settled();

  const dry = await erase(storing, storing.agent, "--table", "svc.rom", "svc.room", "--json");
  const done = await erase(storing, storing.agent, "--table", "svc.rom", "svc.room", "--yes");
  const again = await erase(storing, storing.agent, "--table", "svc.room", "--yes");

  const { complete, unknown_tables } = JSON.parse(dry.stdout);
  assert.deepEqual([dry.code, complete, unknown_tables], [5, false, ["svc.rom"]]);
  assert.deepEqual([done.code, await storedIn(storing)], [5, []]);
  assert.match(done.stderr, /left: table svc\.rom: no sink of the file has listed a table of that name/);
  assert.deepEqual([again.code, again.stderr], [0, ""]);
});

test("what waits for room among the dead letters is erased, and does not become one when there is room", async (context) => {
  const lines = [away, ...channels.memory, "deneb.sinks.rdb-sink.batch_ttl = 0"];
  const storing = await storingAgentWith(context, { lines, env: { DENEB_DEAD_LETTER_BYTES: "2000" } });
  if (storing === undefined) return;
  const { agent, ask } = storing;
  const says = (message: string) =>
    until(
      async () => agent.lines.some((line) => line["msg"] === message),
      (isSaid) => isSaid,
    );
  assert.equal(await storing.post([room(2, "x".repeat(500))]), 200);
  await says("events kept as dead letters");
  assert.equal(await storing.post([room(1, "x".repeat(1500))]), 200);
  await says("dead letters not written, will be retried");

  await erase(storing, agent, "--entity", "urn:room:1", "--yes");
  await ask("DELETE", "/v1/admin/deadletters?all=true");
  const books = await storing.settled();
  const { deadletters } = await ask("GET", "/v1/admin/deadletters");

  assert.deepEqual(deadletters, []);
  assert.deepEqual([books.dead_lettered, books.filtered, books.unaccounted], [1, 1, 0]);
});

test("the texts of dead letters that were stored, or failed again, are gone with the erasure", async (context) => {
  const way = await wayToPostgresql(context);
  const lines = [`deneb.sinks.rdb-sink.rdb_port = ${way.port}`, "deneb.sinks.rdb-sink.batch_ttl = 0"];
  const storing = await storingAgentWith(context, { lines, env: { DENEB_DEAD_LETTER_REPLAY: "false" } });
  if (storing === undefined) return;
  const { agent, ask, folder } = storing;
  way.close();
  assert.equal(await storing.post([room(1)]), 200);
  await until(
    () => ask("GET", "/v1/admin/deadletters"),
    ({ count }) => count === 1,
  );
  way.open();
  await ask("POST", "/v1/admin/deadletters/replay?all=true");
  await until(
    () => ask("GET", "/v1/admin/deadletters"),
    ({ count }) => count === 0,
  );

  const { code, stderr } = await erase(storing, agent, "--entity", "urn:room:1", "--yes");

  assert.deepEqual([code, stderr], [0, ""]);
  assert.doesNotMatch(await readFile(path.join(folder, "data/dead-letters/rdb-sink.ndjson"), "utf8"), /urn:room:1/);
});
