import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { test } from "node:test";
import { runCli } from "../support/run-cli.js";
import { room, type StoringAgent, storingAgent } from "../support/storing-agent.js";
import { tempFolder } from "../support/temp-folder.js";
import { until } from "../support/until.js";
import { wayToPostgresql } from "../support/way-to-postgresql.js";

function grouped(folder: string, port: number): readonly string[] {
  return [
    "deneb.sinks.rdb-sink.rdb_host = 127.0.0.1",
    `deneb.sinks.rdb-sink.rdb_port = ${port}`,
    "deneb.sinks = rdb-sink spare",
    "deneb.sinkgroups = g",
    "deneb.sinkgroups.g.sinks = rdb-sink spare",
    "deneb.sinkgroups.g.processor.type = failover",
    "deneb.sinkgroups.g.processor.priority.rdb-sink = 2",
    "deneb.sinkgroups.g.processor.priority.spare = 1",
    "deneb.sinkgroups.g.processor.maxpenalty = 200",
    "deneb.sinks.rdb-sink.rdb_options = sslmode=disable",
    "deneb.sinks.spare.type = rdb",
    "deneb.sinks.spare.channel = c",
    "deneb.sinks.spare.rdb_dialect = sqlite",
    `deneb.sinks.spare.rdb_folder = ${folder}`,
    "deneb.sinks.spare.data_model = dm-by-entity-type",
    "deneb.sinks.spare.batch_ttl = -1",
    "deneb.sinks.spare.batch_retry_intervals = 100",
  ];
}

async function persisted({ ask }: StoringAgent): Promise<Readonly<Record<string, number>>> {
  const { stats } = await ask("GET", "/v1/stats");
  const sinks: readonly { readonly name: string; readonly num_persisted_events: number }[] = stats.sinks;
  return Object.fromEntries(sinks.map(({ name, num_persisted_events }) => [name, num_persisted_events]));
}

async function ids({ database, propertiesFile }: StoringAgent) {
  const main = await database.query("SELECT entityid FROM svc.room");
  const flags = ["--json", "--config", propertiesFile, "--sink", "spare"];
  const { stdout, stderr } = await runCli(["sql", "SELECT entityid FROM svc.room", ...flags]);
  assert.equal(stderr, "");
  const spare: readonly { readonly entityid: string }[] = JSON.parse(stdout);
  return { main: main.map(({ entityid }) => entityid), spare: spare.map(({ entityid }) => entityid) };
}

test("of two databases one is cut off under load: the other one stores, nothing is lost, and the first one takes over again", async (context) => {
  const postgresql = await wayToPostgresql(context);
  const storing = await storingAgent(context, ...grouped(await tempFolder(context), postgresql.port));
  if (storing === undefined) return;
  const { post, settled, agent, ask } = storing;
  let posted = 0;
  const postSome = async () => {
    assert.equal(await post(Array.from({ length: 20 }, (_, index) => room(posted + index))), 200);
    posted += 20;
  };
  const postUntil = async (enough: (counts: Readonly<Record<string, number>>) => boolean) => {
    await until(async () => {
      await postSome();
      return await persisted(storing);
    }, enough);
  };

  await postUntil(({ "rdb-sink": main = 0 }) => main > 200);
  postgresql.close();
  const whenCut = (await persisted(storing))["rdb-sink"] ?? 0;
  await postUntil(({ spare = 0 }) => spare > 400);
  const health = await ask("GET", "/v1/stats");
  postgresql.open();
  await postUntil(({ "rdb-sink": main = 0 }) => main > whenCut + 200);
  const ledger = await settled();
  const { main, spare } = await ids(storing);
  const code = await agent.end("SIGTERM");

  assert.equal(code, 0);
  assert.deepEqual([ledger.received, ledger.stored, ledger.dead_lettered, ledger.unaccounted], [posted, posted, 0, 0]);
  assert.equal(new Set([...main, ...spare]).size, posted);
  assert.ok(spare.length >= 400 && main.length >= whenCut + 200);
  assert.deepEqual(
    health.stats.sinks.map(({ name, status }: Readonly<Record<string, unknown>>) => [name, status]),
    [
      ["rdb-sink", "START"],
      ["spare", "START"],
    ],
  );
});

test("a reload that changes one sink of a group replaces the whole group and loses nothing", async (context) => {
  const postgresql = await wayToPostgresql(context);
  const lines = grouped(await tempFolder(context), postgresql.port);
  const storing = await storingAgent(context, ...lines);
  if (storing === undefined) return;
  const { post, settled, agent, ask, propertiesFile, properties } = storing;
  assert.equal(await post([room(1)]), 200);
  await settled();
  postgresql.close();

  await writeFile(propertiesFile, properties("deneb.sinks.spare.persist_timeout = 7"));
  agent.process.kill("SIGHUP");
  const told = await until(
    async () => agent.lines.find(({ msg }) => msg === "configuration reloaded"),
    (line) => line !== undefined,
  );
  assert.equal(await post([room(2)]), 200);
  const ledger = await settled();
  const { stats } = await ask("GET", "/v1/stats");
  const { main, spare } = await ids(storing);
  await agent.end("SIGTERM");

  assert.deepEqual(told?.["started"], ["rdb-sink", "spare"]);
  assert.deepEqual([main, spare], [["urn:room:1"], ["urn:room:2"]]);
  assert.deepEqual([ledger.stored, ledger.unaccounted], [2, 0]);
  assert.deepEqual(
    stats.ledger.channels[0].sinks.map(({ name, stored }: Readonly<Record<string, unknown>>) => [name, stored]),
    [
      ["rdb-sink", 1],
      ["spare", 1],
      ["g", 0],
    ],
  );
});

test("a dead letter of a group is kept under its name and can be replayed", async (context) => {
  const postgresql = await wayToPostgresql(context);
  const lines = grouped(await tempFolder(context), postgresql.port);
  const noRetry = ["rdb-sink", "spare"].map((sink) => `deneb.sinks.${sink}.batch_ttl = 0`);
  const storing = await storingAgent(context, ...lines, ...noRetry, "deneb.sinks.spare.rdb_folder = /dev/null/none");
  if (storing === undefined) return;
  const { post, settled, agent, ask, database } = storing;
  postgresql.close();
  assert.equal(await post([room(1)]), 200);
  const before = await settled();
  const { deadletters } = await ask("GET", "/v1/admin/deadletters");
  postgresql.open();

  const replay = await ask("POST", "/v1/admin/deadletters/replay?sink=g");
  const after = await settled();
  const rows = await database.query("SELECT entityid FROM svc.room");
  const left = await ask("GET", "/v1/admin/deadletters");
  await agent.end("SIGTERM");

  assert.deepEqual([before.stored, before.dead_lettered], [0, 1]);
  assert.deepEqual(
    deadletters.map(({ sink, reason }: Readonly<Record<string, unknown>>) => [sink, reason]),
    [["g", "retries-exhausted"]],
  );
  assert.equal(replay.replayed, 1);
  assert.deepEqual([after.stored, after.unaccounted], [1, 0]);
  assert.deepEqual(rows, [{ entityid: "urn:room:1" }]);
  assert.equal(left.count, 0);
});
