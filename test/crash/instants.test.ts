import assert from "node:assert/strict";
import path from "node:path";
import { type TestContext, test } from "node:test";
import Database from "libsql";
import pg from "pg";
import { type AgentProcess, startAgent } from "../support/agent-process.js";
import { settledBooks } from "../support/channel-books.js";
import { numberedRoom, postEntities } from "../support/post-entities.js";
import { postgresqlDatabase, type TestDatabase } from "../support/postgresql.js";
import { tempFolder } from "../support/temp-folder.js";
import { until } from "../support/until.js";
import { type WayToPostgresql, wayToPostgresql } from "../support/way-to-postgresql.js";
import { oneSinkLines } from "./one-sink-lines.js";

/** Ends the process, or a connection, exactly where it hurts, and looks for rows that are there twice or never. */
interface Scene {
  readonly database: TestDatabase;
  readonly way: WayToPostgresql;
  /** Of the files of the spare sink. */
  readonly folder: string;
  start(...more: readonly string[]): Promise<AgentProcess>;
}

async function scene(context: TestContext, ...lines: readonly string[]): Promise<Scene | undefined> {
  const database = await postgresqlDatabase();
  if (database === undefined) {
    context.skip("needs PostgreSQL");
    return undefined;
  }
  context.after(() => database.drop());
  const way = await wayToPostgresql(context);
  const folder = await tempFolder(context);
  const start = (...more: readonly string[]) => {
    const all = [...oneSinkLines({ ...database, host: "127.0.0.1", port: way.port }, "file"), ...lines, ...more];
    const properties = [...new Map(all.map((line) => [line.split("=")[0]?.trim(), line])).values()].join("\n");
    return startAgent(context, { properties, folder, env: { DENEB_GRACE_PERIOD: "2" } });
  };
  return { database, way, folder, start };
}

const group = (folder: string, ...lines: readonly string[]) => [
  "deneb.sinks = s spare",
  "deneb.sinkgroups = g",
  "deneb.sinkgroups.g.sinks = s spare",
  "deneb.sinkgroups.g.processor.type = failover",
  "deneb.sinkgroups.g.processor.priority.s = 2",
  "deneb.sinkgroups.g.processor.priority.spare = 1",
  "deneb.sinks.spare.type = rdb",
  "deneb.sinks.spare.channel = c",
  "deneb.sinks.spare.rdb_dialect = sqlite",
  `deneb.sinks.spare.rdb_folder = ${folder}`,
  "deneb.sinks.spare.data_model = dm-by-entity-type",
  "deneb.sinks.spare.batch_ttl = -1",
  "deneb.sinks.spare.batch_retry_intervals = 100",
  ...lines,
];

async function post(agent: AgentProcess, service: string, ...numbers: readonly number[]): Promise<void> {
  await postEntities(agent, numbers.map(numberedRoom), service);
}

async function inPostgresql({ database }: Scene, service = "svc"): Promise<readonly number[]> {
  const rows = await database.query(`select number from ${service}."room" order by number::bigint`);
  return rows.map(({ number }) => Number(number));
}

function inSpare(folder: string): readonly number[] {
  const database = new Database(path.join(folder, "svc.db"));
  const [found] = database.prepare("select count(*) from sqlite_master where name = 'room'").raw().all();
  const made = Array.isArray(found) && Number(found[0]) > 0;
  const rows = made ? database.prepare("select number from room").raw().all() : [];
  database.close();
  return rows.map((row) => Number(Array.isArray(row) ? row[0] : Number.NaN));
}

/** Kills the agent when the database of sink `s` has committed the rows of 2 and 3, and it does not know. */
async function killedInCommit(made: Scene, start: () => Promise<AgentProcess>): Promise<void> {
  const agent = await start();
  await post(agent, "svc", 1);
  await settledBooks(agent);
  const committed = made.way.holdCommit();
  await post(agent, "svc", 2, 3);
  await committed;
  await agent.end("SIGKILL");
  assert.deepEqual(await inPostgresql(made), [1, 2, 3]);
}

test("killed between the commit of a sink of a group and that of the channel, no other sink of the group gets the batch", async (context) => {
  const made = await scene(context);
  if (made === undefined) return;
  const lines = group(made.folder);
  await killedInCommit(made, () => made.start(...lines));

  const agent = await made.start(...lines, "deneb.sinkgroups.g.processor.priority.spare = 3");
  await post(agent, "svc", 4);
  await settledBooks(agent);
  await agent.end("SIGTERM");

  assert.deepEqual([...(await inPostgresql(made)), ...inSpare(made.folder)].sort(), [1, 2, 3, 4]);
});

test("a sink of a group that is away at the start is waited for when events may be in its database", async (context) => {
  const made = await scene(context);
  if (made === undefined) return;
  const lines = group(made.folder);
  await killedInCommit(made, () => made.start(...lines));

  made.way.close();
  const agent = await made.start(...lines);
  await until(
    async () => agent.lines.find(({ msg }) => msg === "what is stored already cannot be read, will be tried again"),
    (line) => line !== undefined,
  );
  made.way.open();
  await settledBooks(agent);
  await agent.end("SIGTERM");

  assert.deepEqual([await inPostgresql(made), inSpare(made.folder)], [[1, 2, 3], []]);
});

test("a sink of a group that stays away holds up the others for positions_timeout, and nothing is lost", async (context) => {
  const made = await scene(context);
  if (made === undefined) return;
  const lines = group(made.folder, "deneb.sinkgroups.g.positions_timeout = 1");
  await killedInCommit(made, () => made.start(...lines));

  made.way.close();
  const agent = await made.start(...lines);
  await post(agent, "svc", 4);
  await settledBooks(agent);
  const told = agent.lines.find(({ msg }) => String(msg).startsWith("going on without sinks"));
  await agent.end("SIGTERM");

  assert.deepEqual(told?.["sinks"], ["s"]);
  assert.deepEqual(inSpare(made.folder), [2, 3, 4]);
});

test("a batch that a sink of a group committed before its connection broke goes to no other sink", async (context) => {
  const made = await scene(context);
  if (made === undefined) return;
  const agent = await made.start(...group(made.folder));
  await post(agent, "svc", 1);
  await settledBooks(agent);

  const broken = made.way.breakAtCommit();
  await post(agent, "svc", 2, 3);
  await broken;
  const { stored } = await settledBooks(agent);
  await agent.end("SIGTERM");

  assert.deepEqual([await inPostgresql(made), inSpare(made.folder)], [[1, 2, 3], []]);
  assert.equal(stored, 3);
});

test("a batch that was committed before the connection broke at its last try is no dead letter", async (context) => {
  const made = await scene(context, "deneb.sinks.s.batch_ttl = 0");
  if (made === undefined) return;
  const agent = await made.start();
  await post(agent, "svc", 1);
  await settledBooks(agent);

  const broken = made.way.breakAtCommit();
  await post(agent, "svc", 2, 3);
  await broken;
  const { stored, dead_lettered: dead } = await settledBooks(agent);
  await agent.end("SIGTERM");

  assert.deepEqual(await inPostgresql(made), [1, 2, 3]);
  assert.deepEqual([stored, dead], [3, 0]);
});

test("a batch whose commit was not answered is no dead letter while its database is away, and each row is there once, also over a kill", async (context) => {
  const made = await scene(context, "deneb.sinks.s.batch_ttl = 0");
  if (made === undefined) return;
  const agent = await made.start();
  await post(agent, "svc", 1);
  await settledBooks(agent);

  const lost = made.way.breakAtCommit().then(() => made.way.close());
  await post(agent, "svc", 2, 3);
  await lost;
  const judged = /kept as dead letters|whose commit was not answered wait/;
  const found = await until(
    async () => agent.lines.find(({ msg }) => judged.test(String(msg))),
    (line) => line !== undefined,
  );
  await agent.end("SIGKILL");
  made.way.open();
  const next = await made.start();
  await post(next, "svc", 4);
  await settledBooks(next);
  const { dead_lettered: dead } = await settledBooks(next);
  await next.end("SIGTERM");

  assert.match(String(found?.["msg"]), /wait until the store can tell/);
  assert.deepEqual([await inPostgresql(made), dead], [[1, 2, 3, 4], 0]);
});

test("killed between the commits of two databases of a batch, each row is there once", async (context) => {
  const made = await scene(
    context,
    "deneb.sinks.s.data_model = dm-by-entity-type-database",
    "deneb.sinks.s.batch_size = 2",
    "deneb.sinks.s.batch_timeout = 60",
  );
  if (made === undefined) return;
  const [first, second] = [`${made.database.database}_a`, `${made.database.database}_b`];
  const agent = await made.start();
  await post(agent, first, 1);
  await post(agent, second, 1);
  await settledBooks(agent);
  const ask = await asker(context, made.database, first, second);
  const numbers = async (service: string) =>
    (await ask(service, `select number from "${service}"."room" order by number::bigint`)).map(({ number }) =>
      Number(number),
    );
  await ask(second, "begin");
  await ask(second, `lock table "${second}"."room"`);

  await post(agent, first, 2);
  await post(agent, second, 2);
  await until(
    () => numbers(first),
    (found) => found.includes(2),
  );
  await agent.end("SIGKILL");
  await ask(second, "rollback");
  const again = await made.start("deneb.sinks.s.batch_timeout = 1");
  await post(again, first, 3);
  await post(again, second, 3);
  await settledBooks(again);
  await again.end("SIGTERM");

  assert.deepEqual(
    [await numbers(first), await numbers(second)],
    [
      [1, 2, 3],
      [1, 2, 3],
    ],
  );
});

test("killed while PostgreSQL runs its transaction, which ends after the next start has read the position, each row is there once", async (context) => {
  const made = await scene(context);
  if (made === undefined) return;
  const { database } = made;
  const direct = `deneb.sinks.s.rdb_port = ${database.port}`;
  const agent = await made.start(direct);
  await post(agent, "svc", 1);
  await settledBooks(agent);
  await database.query("begin");
  await database.query('lock table svc."room" in share mode');
  const waiting = async () => {
    const rows = await database.query(
      `select pid from pg_locks where not granted and relation = 'svc."room"'::regclass`,
    );
    return rows.map(({ pid }) => pid);
  };

  await post(agent, "svc", 2, 3);
  const [killed] = await until(waiting, (found) => found.length > 0);
  await agent.end("SIGKILL");
  const again = await made.start(direct);
  await post(again, "svc", 4);
  await until(waiting, (found) => found.some((pid) => pid !== killed));
  await database.query("rollback");
  await settledBooks(again);
  await post(again, "svc", 5);
  await settledBooks(again);
  await again.end("SIGTERM");

  assert.deepEqual(await inPostgresql(made), [1, 2, 3, 4, 5]);
});

/** Asks in other databases of the same server. */
async function asker(context: TestContext, { host, port, user, password }: TestDatabase, ...names: readonly string[]) {
  const clients = new Map(names.map((database) => [database, new pg.Client({ host, port, user, password, database })]));
  for (const client of clients.values()) await client.connect();
  const admin = new pg.Client({ host, port, user, password, database: "postgres" });
  context.after(async () => {
    await Promise.all([...clients.values()].map((client) => client.end()));
    await admin.connect();
    for (const name of names) await admin.query(`drop database if exists "${name}" with (force)`);
    await admin.end();
  });
  return async (database: string, text: string) => (await clients.get(database)?.query(text))?.rows ?? [];
}
