import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { type TestContext, test } from "node:test";
import Database from "libsql";
import pg from "pg";
import { type AgentProcess, startAgent } from "../support/agent-process.js";
import { startOwnPostgresql } from "../support/own-postgresql.js";
import { postEntities } from "../support/post-entities.js";
import { postgresqlPrograms } from "../support/postgresql-programs.js";
import { repositoryRoot } from "../support/repository.js";
import { room, storingAgent } from "../support/storing-agent.js";
import { tempFolder } from "../support/temp-folder.js";
import { until } from "../support/until.js";

const PER_NOTIFICATION = 5;

/** Rooms of one notification after the other, each with a number of its own. */
function rooms(notificationNumber: number): readonly object[] {
  return Array.from({ length: PER_NOTIFICATION }, (_, index) => room(notificationNumber * PER_NOTIFICATION + index));
}

async function post(agent: AgentProcess, data: readonly object[]): Promise<void> {
  await postEntities(agent, data, "svc");
}

test("three writers of config/examples/load-balancing.properties share a load, and each event is stored once", async (context) => {
  const folder = await tempFolder(context);
  const text = await readFile(path.join(repositoryRoot, "config", "examples", "load-balancing.properties"), "utf8");
  const properties = text
    .replace(/\.port = \d+/g, ".port = 0")
    .replaceAll("rdb_folder = data", `rdb_folder = ${folder}`)
    .replaceAll("dm-by-entity", "dm-by-entity-type");
  const agent = await startAgent(context, { properties, folder });
  const notifications = 90;

  // Five brokers at once.
  let next = 0;
  const broker = async () => {
    for (let number = next++; number < notifications; number = next++) await post(agent, rooms(number));
  };
  await Promise.all(Array.from({ length: 5 }, broker));
  const code = await agent.end("SIGTERM");

  const stored = [1, 2, 3].map((writer) => idsIn(path.join(folder, `writer-${writer}`, "svc.db")));
  const all = stored.flat();
  const expected = notifications * PER_NOTIFICATION;
  assert.deepEqual([all.length, new Set(all).size], [expected, expected]);
  for (const ids of stored) assert.ok(ids.length >= expected / 10, `${ids.length} of ${expected} rows in one writer`);
  assert.equal(code, 0);
});

function idsIn(file: string): readonly string[] {
  const connection = new Database(file);
  const ids = connection.prepare("SELECT entityid FROM room").pluck().all().map(String);
  connection.close();
  return ids;
}

/** A database server that a test may stop; undefined, and the test skipped, where it is not installed. */
async function ownPostgresql(context: TestContext) {
  const programs = await postgresqlPrograms();
  if (programs === undefined) {
    context.skip("needs the programs of PostgreSQL");
    return undefined;
  }
  const server = await startOwnPostgresql(programs);
  context.after(server.stop);
  return server;
}

test("of two database servers one is stopped under load: what it has and what the other one has are all events", async (context) => {
  const main = await ownPostgresql(context);
  if (main === undefined) return;
  const spare = await storingAgent(
    context,
    "deneb.sinks = main rdb-sink",
    "deneb.sinkgroups = g",
    "deneb.sinkgroups.g.sinks = main rdb-sink",
    "deneb.sinkgroups.g.processor.type = failover",
    "deneb.sinkgroups.g.processor.priority.main = 2",
    "deneb.sinkgroups.g.processor.priority.rdb-sink = 1",
    "deneb.sinkgroups.g.processor.maxpenalty = 200",
    "deneb.sinks.main.type = rdb",
    "deneb.sinks.main.channel = c",
    `deneb.sinks.main.rdb_host = ${main.host}`,
    `deneb.sinks.main.rdb_port = ${main.port}`,
    "deneb.sinks.main.rdb_options = sslmode=prefer",
    "deneb.sinks.main.data_model = dm-by-entity-type",
    "deneb.sinks.main.batch_ttl = -1",
    "deneb.sinks.main.batch_retry_intervals = 100",
  );
  if (spare === undefined) return;
  const { agent, ask, settled, database } = spare;
  const persisted = async (sink: string): Promise<number> => {
    const { stats } = await ask("GET", "/v1/stats");
    return stats.sinks.find(({ name }: Readonly<Record<string, unknown>>) => name === sink).num_persisted_events;
  };
  let posted = 0;
  const postUntil = async (sink: string, count: number) => {
    await until(
      async () => {
        await post(agent, rooms(posted++));
        return await persisted(sink);
      },
      (events) => events >= count,
      60_000,
    );
  };

  await postUntil("main", 150);
  const halted = main.halt();
  await postUntil("rdb-sink", 150);
  await halted;
  await main.resume();
  await postUntil("main", (await persisted("main")) + 50);
  const ledger = await settled();
  const code = await agent.end("SIGTERM");

  const client = new pg.Client({ host: main.host, port: main.port, user: main.user, database: "postgres" });
  await client.connect();
  const { rows } = await client.query<{ entityid: string }>("SELECT entityid FROM svc.room");
  await client.end();
  const others = await database.query("SELECT entityid FROM svc.room");
  const stored = new Set([...rows, ...others].map(({ entityid }) => entityid));
  const events = posted * PER_NOTIFICATION;
  assert.deepEqual([ledger.received, ledger.stored, ledger.dead_lettered, ledger.unaccounted], [events, events, 0, 0]);
  assert.equal(stored.size, events);
  assert.ok(rows.length >= 200 && others.length >= 150, `${rows.length} and ${others.length} rows`);
  assert.equal(code, 0);
});
