import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cp, mkdir, readdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { type TestContext, test } from "node:test";
import { promisify } from "node:util";
import pg from "pg";
import { type AgentProcess, startAgent } from "../support/agent-process.js";
import { settledBooks } from "../support/channel-books.js";
import { postgresqlDatabase, type TestDatabase } from "../support/postgresql.js";
import { tempFolder } from "../support/temp-folder.js";
import { until } from "../support/until.js";

const run = promisify(execFile);
const reachable = await postgresqlDatabase();
await reachable?.drop();
const hasDump = await run("pg_dump", ["--version"]).then(
  () => true,
  () => false,
);
const skip = reachable === undefined ? "PostgreSQL is not reachable" : hasDump ? false : "pg_dump is not installed";

function properties({ host, port, user, password, database }: TestDatabase): string {
  return [
    "a.sources = http-source",
    "a.channels = c",
    "a.sinks = s",
    "a.sources.http-source.type = http",
    "a.sources.http-source.port = 0",
    "a.sources.http-source.bind = 127.0.0.1",
    "a.sources.http-source.channels = c",
    "a.sources.http-source.handler = ngsi",
    "a.channels.c.type = file",
    "a.sinks.s.type = rdb",
    "a.sinks.s.channel = c",
    "a.sinks.s.batch_retry_intervals = 20",
    "a.sinks.s.data_model = dm-by-entity-type",
    `a.sinks.s.rdb_host = ${host}`,
    `a.sinks.s.rdb_port = ${port}`,
    `a.sinks.s.rdb_username = ${user}`,
    `a.sinks.s.rdb_password = ${password}`,
    `a.sinks.s.rdb_database = ${database}`,
  ].join("\n");
}

async function post({ notifyUrl }: AgentProcess, ...numbers: readonly number[]): Promise<void> {
  for (const number of numbers) {
    const data = [{ id: `urn:room:${number}`, type: "Room", number: { type: "Property", value: number } }];
    const response = await fetch(notifyUrl, {
      method: "POST",
      headers: { "Content-Type": "application/json", "Fiware-Service": "svc" },
      body: JSON.stringify({ id: "urn:n", type: "Notification", subscriptionId: "urn:s:1", data }),
    });
    await response.arrayBuffer();
    assert.equal(response.status, 200);
  }
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
async function dumpedInto({ host, port, user, password, database }: TestDatabase, other: TestDatabase): Promise<void> {
  const { stdout } = await run(
    "pg_dump",
    ["--inserts", "--no-comments", "-h", host, "-p", String(port), "-U", user, database],
    { env: { ...process.env, PGPASSWORD: password } },
  );
  const statements = stdout.split("\n").filter((line) => !/^(?:--|\\|SET |SELECT pg_catalog\.set_config)/.test(line));
  await other.query(statements.join("\n").replaceAll(/CREATE SCHEMA public;/g, ""));
}

/** A copy of a data directory as `cp` makes it; locks are of the process, not of the folder. */
async function copied(from: string, to: string): Promise<void> {
  await cp(from, to, { recursive: true, filter: (file) => !path.basename(file).startsWith("deneb.lock") });
}

test("a backup of a stopped agent, folder and database, is restored without a loss and without a double row", {
  skip,
}, async (context) => {
  const [first, second] = [await databaseOf(context), await databaseOf(context)];
  const folder = await tempFolder(context);
  const [work, restored] = [path.join(folder, "work"), path.join(folder, "restored")];
  for (const one of [work, restored]) await mkdir(one);
  const before = await startAgent(context, { properties: properties(first), folder: work });
  await post(before, 1, 2, 3);
  await settledBooks(before);
  const held = await lockOf(first, context);
  await post(before, 4, 5);
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
  const [first, second] = [await databaseOf(context), await databaseOf(context)];
  const folder = await tempFolder(context);
  const [work, restored] = [path.join(folder, "work"), path.join(folder, "restored")];
  for (const one of [work, restored]) await mkdir(one);
  const before = await startAgent(context, { properties: properties(first), folder: work });
  await post(before, 1, 2, 3);
  await settledBooks(before);
  const held = await lockOf(first, context);
  await post(before, 4, 5);
  await copied(path.join(work, "data"), path.join(restored, "data"));
  await held.end();
  await post(before, 6, 7);
  await settledBooks(before);
  await dumpedInto(first, second);
  await before.end("SIGTERM");
  await rm(path.join(work, "data"), { recursive: true });

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

/** Keeps the sink from writing its table, so that events wait in the channel. */
async function lockOf(
  { host, port, user, password, database }: TestDatabase,
  context: TestContext,
): Promise<pg.Client> {
  const client = new pg.Client({ host, port, user, password, database });
  client.on("error", () => undefined);
  await client.connect();
  context.after(() => client.end().catch(() => undefined));
  await client.query("BEGIN");
  await client.query("LOCK TABLE svc.room IN ACCESS EXCLUSIVE MODE");
  return client;
}
