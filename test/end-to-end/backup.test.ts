import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { type TestContext, test } from "node:test";
import { promisify } from "node:util";
import pg from "pg";
import { copyOfLive } from "../../core/testing/copied-folder.js";
import { type AgentProcess, startAgent } from "../support/agent-process.js";
import { settledBooks } from "../support/channel-books.js";
import { httpAgent } from "../support/http-agent.js";
import { numberedRoom, postEntities } from "../support/post-entities.js";
import { postgresqlDatabase, type TestDatabase } from "../support/postgresql.js";
import { tempFolder } from "../support/temp-folder.js";
import { until } from "../support/until.js";

const run = promisify(execFile);
const skip = await reasonToSkip();

/** A pg_dump dumps from servers of its version, and of earlier ones. */
async function reasonToSkip(): Promise<string | false> {
  const reachable = await postgresqlDatabase();
  if (reachable === undefined) return "PostgreSQL is not reachable";
  const [row] = await reachable.query("SHOW server_version_num");
  await reachable.drop();
  const server = Math.floor(Number(row?.["server_version_num"]) / 10_000);
  const dump = await run("pg_dump", ["--version"]).catch(() => undefined);
  if (dump === undefined) return "pg_dump is not installed";
  const [, version = ""] = /PostgreSQL\) (\d+)/.exec(dump.stdout) ?? [];
  return Number(version) < server ? `pg_dump ${version} does not dump from PostgreSQL ${server}` : false;
}

function properties({ host, port, user, password, database }: TestDatabase, model = "dm-by-entity-type"): string {
  return httpAgent({
    channel: "file",
    sink: "rdb",
    lines: [
      "a.sinks.k.batch_retry_intervals = 100",
      `a.sinks.k.data_model = ${model}`,
      `a.sinks.k.rdb_host = ${host}`,
      `a.sinks.k.rdb_port = ${port}`,
      `a.sinks.k.rdb_username = ${user}`,
      `a.sinks.k.rdb_password = ${password}`,
      `a.sinks.k.rdb_database = ${database}`,
    ],
  });
}

async function post(agent: AgentProcess, ...numbers: readonly number[]): Promise<void> {
  await postFor("svc", agent, ...numbers);
}

async function postFor(service: string, agent: AgentProcess, ...numbers: readonly number[]): Promise<void> {
  for (const number of numbers) await postEntities(agent, [numberedRoom(number)], service);
}

async function stored({ query }: TestDatabase): Promise<readonly number[]> {
  return (await query("SELECT number FROM svc.room ORDER BY number::int")).map(({ number }) => Number(number));
}

async function databaseOf(context: TestContext): Promise<TestDatabase> {
  const database = await postgresqlDatabase();
  if (database === undefined) throw new Error("PostgreSQL is not reachable");
  context.after(() => database.drop());
  return database;
}

/** As an operator dumps one database and restores it into another one. */
async function dumpedInto(one: TestDatabase, other: TestDatabase): Promise<void> {
  await other.query(await dumpOf(one));
}

/** The statements that make its content in an empty database. */
async function dumpOf({ host, port, user, password, database }: Omit<TestDatabase, "query" | "drop">): Promise<string> {
  const { stdout } = await run(
    "pg_dump",
    ["--inserts", "--no-comments", "-h", host, "-p", String(port), "-U", user, database],
    { env: { ...process.env, PGPASSWORD: password } },
  );
  const statements = stdout.split("\n").filter((line) => !/^(?:--|\\|SET |SELECT pg_catalog\.set_config)/.test(line));
  return statements.join("\n").replaceAll(/CREATE SCHEMA public;/g, "");
}

/** A copy of a data directory that may be in use; locks are of the process, not of the folder. */
async function copied(from: string, to: string): Promise<void> {
  await copyOfLive(from, to, (file) => !path.basename(file).startsWith("deneb.lock"));
}

test("a backup of a stopped agent, folder and database, is restored without a loss and without a double row", {
  skip,
}, async (context) => {
  const [first, second] = [await databaseOf(context), await databaseOf(context)];
  const folder = await tempFolder(context);
  const [work, restored] = [path.join(folder, "work"), path.join(folder, "restored")];
  for (const one of [work, restored]) await mkdir(one);
  const { before, held } = await waiting(context, first, work);
  await before.end("SIGKILL");
  await held.end();

  await copied(path.join(work, "data"), path.join(restored, "data"));
  await dumpedInto(first, second);
  const after = await startAgent(context, { properties: properties(second), folder: restored });
  await post(after, 6);
  await settledBooks(after);

  assert.deepEqual(await stored(second), [1, 2, 3, 4, 5, 6]);
});

test("a backup of a running agent, folder first, stops at the position until the operator decides, then only what waited is there twice", {
  skip,
}, async (context) => {
  const { second, restored } = await restoredWhileRunning(context);

  const refusing = await startAgent(context, { properties: properties(second), folder: restored });
  const ready = async () => await (await fetch(`${refusing.managementUrl}/ready`)).text();
  await until(ready, (text) => text.includes("its folder was copied or restored from a backup"));
  assert.deepEqual(await stored(second), [1, 2, 3, 4, 5, 6, 7]);
  await refusing.end("SIGTERM");

  const checkpoint = path.join(restored, "data", "channels", "c", "checkpoint");
  assert.ok((await readdir(checkpoint)).includes("checkpoint"));
  await writeFile(path.join(checkpoint, "new-id"), "");
  const after = await startAgent(context, { properties: properties(second), folder: restored });
  await post(after, 8);
  await settledBooks(after);

  assert.deepEqual(await stored(second), [1, 2, 3, 4, 4, 5, 5, 6, 7, 8]);
});

test("a restored agent that is started again after it has accepted an event leaves out what the position covers: no row is there twice", {
  skip,
}, async (context) => {
  const { second, restored } = await restoredWhileRunning(context);

  const refusing = await startAgent(context, { properties: properties(second), folder: restored });
  await post(refusing, 8);
  await refusing.end("SIGTERM");
  const after = await startAgent(context, { properties: properties(second), folder: restored });
  await settledBooks(after);

  assert.deepEqual(await stored(second), [1, 2, 3, 4, 5, 6, 7, 8]);
});

for (const isNewId of [true, false])
  test(`of databases of services that were dumped one after another while the agent ran ${isNewId ? "nothing is lost with a new id" : "what is in none of the dumps counts as stored without a new id"}`, {
    skip,
  }, async (context) => {
    const [first, second] = [await databaseOf(context), await databaseOf(context)];
    const tag = randomUUID().slice(0, 8);
    // The position of a batch is in the database that comes last.
    const services = [`early_${tag}`, `late_${tag}`] as const;
    const [early, late] = services;
    for (const name of services)
      context.after(() =>
        onDatabase({ ...first, database: "postgres" }, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
      );
    const model = "dm-by-entity-type-database";
    const folder = await tempFolder(context);
    const [work, restored] = [path.join(folder, "work"), path.join(folder, "restored")];
    for (const one of [work, restored]) await mkdir(one);
    const before = await startAgent(context, { properties: properties(first, model), folder: work });
    for (const service of services) await postFor(service, before, 1);
    await settledBooks(before);
    const held = await Promise.all(
      services.map((name) => lockOf({ ...first, database: name }, context, `${name}.room`)),
    );
    for (const service of services) await postFor(service, before, 2);

    await copied(path.join(work, "data"), path.join(restored, "data"));
    const dumps = [await dumpOf({ ...first, database: early })];
    for (const lock of held) await lock.end();
    await settledBooks(before);
    dumps.push(await dumpOf({ ...first, database: late }));
    await dumpedInto(first, second);
    await before.end("SIGTERM");
    for (const [index, name] of services.entries()) {
      await first.query(`DROP DATABASE ${name} WITH (FORCE)`);
      await first.query(`CREATE DATABASE ${name}`);
      await onDatabase({ ...first, database: name }, dumps[index] ?? "");
    }
    if (isNewId) await writeFile(path.join(restored, "data", "channels", "c", "checkpoint", "new-id"), "");
    const after = await startAgent(context, { properties: properties(second, model), folder: restored });
    await settledBooks(after);

    const numbers = services.map((name) =>
      onDatabase({ ...first, database: name }, `SELECT number FROM ${name}.room ORDER BY number::int`),
    );
    assert.deepEqual(
      await Promise.all(numbers),
      isNewId
        ? [
            ["1", "2"],
            ["1", "2", "2"],
          ]
        : [["1"], ["1", "2"]],
    );
  });

/** An agent that has stored 1 to 3, and holds 4 and 5 until the lock of its table ends. */
async function waiting(context: TestContext, database: TestDatabase, folder: string) {
  const before = await startAgent(context, { properties: properties(database), folder });
  await post(before, 1, 2, 3);
  await settledBooks(before);
  const held = await lockOf(database, context);
  await post(before, 4, 5);
  return { before, held };
}

/** A folder that was copied while 4 and 5 waited, and a database that was dumped when 6 and 7 were stored, too. */
async function restoredWhileRunning(context: TestContext) {
  const [first, second] = [await databaseOf(context), await databaseOf(context)];
  const folder = await tempFolder(context);
  const [work, restored] = [path.join(folder, "work"), path.join(folder, "restored")];
  for (const one of [work, restored]) await mkdir(one);
  const { before, held } = await waiting(context, first, work);
  await copied(path.join(work, "data"), path.join(restored, "data"));
  await held.end();
  await post(before, 6, 7);
  await settledBooks(before);
  await dumpedInto(first, second);
  await before.end("SIGTERM");
  await rm(path.join(work, "data"), { recursive: true });
  return { second, restored };
}

/** Keeps the sink from writing its table, so that events wait in the channel. */
async function lockOf(
  { host, port, user, password, database }: Omit<TestDatabase, "query" | "drop">,
  context: TestContext,
  table = "svc.room",
): Promise<pg.Client> {
  const client = new pg.Client({ host, port, user, password, database });
  client.on("error", () => undefined);
  await client.connect();
  context.after(() => client.end().catch(() => undefined));
  await client.query("BEGIN");
  // It can be read, as by pg_dump.
  await client.query(`LOCK TABLE ${table} IN SHARE MODE`);
  return client;
}

/** The numbers that the statements select. */
async function onDatabase(
  { host, port, user, password, database }: Omit<TestDatabase, "query" | "drop">,
  statements: string,
): Promise<readonly unknown[]> {
  const client = new pg.Client({ host, port, user, password, database });
  await client.connect();
  try {
    const { rows = [] } = await client.query(statements);
    return rows.map(({ number }) => number);
  } finally {
    await client.end();
  }
}
