import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { after, type TestContext, test } from "node:test";
import Database from "libsql";
import { isRecord } from "../../core/sdk/event.js";
import { entity, eventOf, never, sinkOf } from "../plugins/rdb-sink/sinks.js";
import { type AgentProcess, startAgent } from "../support/agent-process.js";
import { mysqlServer } from "../support/mysql.js";
import { at } from "../support/position.js";
import { numberedRoom, postEntities } from "../support/post-entities.js";
import { postgresqlDatabase } from "../support/postgresql.js";
import { runCli } from "../support/run-cli.js";
import { tempFolder } from "../support/temp-folder.js";
import { until } from "../support/until.js";
import { keptTables, SERVICE, writeKeptFiles } from "./kept-files.js";

async function post(agent: AgentProcess, number: number): Promise<void> {
  await postEntities(agent, [numberedRoom(number)], SERVICE);
}

function lines(channel: string, sink: Readonly<Record<string, string | number>>): readonly string[] {
  return [
    "old.sources = http-source",
    `old.channels = ${channel}`,
    `old.sinks = ${channel}`,
    "old.sources.http-source.type = http",
    "old.sources.http-source.port = 0",
    "old.sources.http-source.bind = 127.0.0.1",
    `old.sources.http-source.channels = ${channel}`,
    "old.sources.http-source.handler = ngsi",
    `old.channels.${channel}.type = file`,
    `old.sinks.${channel}.channel = ${channel}`,
    ...Object.entries({ type: "rdb", ...sink }).map(([name, value]) => `old.sinks.${channel}.${name} = ${value}`),
  ];
}

/** How often each room is stored in a folder of SQLite files. */
function stored(folder: string): ReadonlyMap<string, number> {
  const connection = new Database(path.join(folder, `${SERVICE}.db`), { timeout: 5000 });
  const rows = (text: string): readonly string[] => connection.prepare(text).raw().all().map(String);
  try {
    const names = rows("SELECT name FROM sqlite_master WHERE name LIKE 'urn_room_%'");
    return new Map(
      names.toSorted().map((name): [string, number] => [name, Number(rows(`SELECT count(*) FROM "${name}"`)[0])]),
    );
  } finally {
    connection.close();
  }
}

async function ledgerOf(dataDir: string): Promise<Readonly<Record<string, unknown>>> {
  const ledger: unknown = JSON.parse(await readFile(path.join(dataDir, "ledger.json"), "utf8"));
  return isRecord(ledger) ? ledger : {};
}

async function scene(context: TestContext) {
  const folder = await tempFolder(context);
  const dataDir = path.join(folder, "data");
  await writeKeptFiles(dataDir);
  return { folder, dataDir };
}

test("what waits in a channel of version 1 is stored once, without what was erased, and the books go on", async (context) => {
  const { folder, dataDir } = await scene(context);
  const store = path.join(folder, "store");
  const properties = lines("away", { rdb_dialect: "sqlite", rdb_folder: store }).join("\n");

  const agent = await startAgent(context, { properties, folder });
  await post(agent, 4);
  await until(
    async () => (await fetch(`${agent.managementUrl}/v1/stats`)).text(),
    (text) => text.includes('"num_persisted_events":3'),
  );
  assert.equal(await agent.end("SIGTERM"), 0);

  assert.deepEqual(
    [...stored(store)],
    [
      ["urn_room_1", 1],
      ["urn_room_3", 1],
      ["urn_room_4", 1],
    ],
  );
  const { version, closed, channels } = await ledgerOf(dataDir);
  const books = isRecord(channels) && isRecord(channels["away"]) ? channels["away"] : {};
  assert.deepEqual({ version, closed, received: books["received"] }, { version: 1, closed: true, received: 4 });
  assert.deepEqual(books["sinks"], { away: { stored: 3, "dead-lettered": 0, filtered: 1 } });
});

test("dead letters of version 1 are listed and replayed", async (context) => {
  const { folder, dataDir } = await scene(context);
  const store = path.join(folder, "store");
  const list = async () => (await runCli(["dead-letters", "list", "--data-dir", dataDir, "--json"])).stdout;
  assert.equal((await list()).match(/SERVICE_NOT_ALLOWED/g)?.length, 2);
  const properties = lines("refused", { rdb_dialect: "sqlite", rdb_folder: store }).join("\n");

  const agent = await startAgent(context, { properties, folder });
  const replayed = await fetch(`${agent.managementUrl}/v1/admin/deadletters/replay?all=true`, { method: "POST" });
  assert.equal(replayed.status, 200, await replayed.text());
  await until(
    async () => (await fetch(`${agent.managementUrl}/v1/stats`)).text(),
    (text) => text.includes('"num_persisted_events":2'),
  );
  await agent.end("SIGTERM");

  assert.deepEqual(
    [...stored(store)],
    [
      ["urn_room_1", 1],
      ["urn_room_3", 1],
    ],
  );
  assert.doesNotMatch(await list(), /SERVICE_NOT_ALLOWED/);
});

test("tables of version 1 in SQLite are gone on with: nothing is stored twice, and the position moves", async (context) => {
  const { folder } = await scene(context);
  const store = path.join(folder, "data");
  const connection = new Database(path.join(store, `${SERVICE}.db`));
  for (const statement of await keptTables("sqlite")) connection.exec(statement);
  connection.close();
  const properties = lines("lite", { rdb_dialect: "sqlite" }).join("\n");

  const agent = await startAgent(context, { properties, folder });
  await post(agent, 3);
  await until(
    async () => stored(store).get("urn_room_3"),
    (rows) => rows === 2,
  );
  await agent.end("SIGTERM");

  assert.deepEqual(
    [...stored(store)],
    [
      ["urn_room_1", 1],
      ["urn_room_2", 1],
      ["urn_room_3", 2],
    ],
  );
});

const reachable = await postgresqlDatabase();
await reachable?.drop();
const skip = reachable === undefined ? "PostgreSQL is not reachable" : false;

test("tables of version 1 in PostgreSQL are gone on with, and deneb verify finds no difference", {
  skip,
}, async (context) => {
  const { folder, dataDir } = await scene(context);
  const database = await postgresqlDatabase();
  if (database === undefined) return;
  context.after(() => database.drop());
  for (const statement of await keptTables("postgresql")) await database.query(statement);
  const { host, port, user, password } = database;
  const sink = { rdb_host: host, rdb_port: port, rdb_username: user, rdb_password: password, last_data_mode: "both" };
  const properties = lines("pg", { ...sink, rdb_database: database.database }).join("\n");
  const count = async () => (await database.query(`SELECT count(*) AS n FROM ${SERVICE}.urn_room_3`))[0]?.["n"];

  const agent = await startAgent(context, { properties, folder });
  await post(agent, 3);
  await until(count, (rows) => rows === "2");
  await agent.end("SIGTERM");
  const config = path.join(folder, "agent.properties");
  const verified = await runCli(["verify", "--config", config, "--data-dir", dataDir, "--management-port", "1"]);

  assert.equal(verified.code, 0, verified.stderr);
  const positions = await database.query("SELECT deneb_position, deneb_events FROM deneb.positions");
  assert.equal(positions.length, 1);
  assert.equal(positions[0]?.["deneb_events"], "4");
  const [{ n } = {}] = await database.query(`SELECT count(*) AS n FROM ${SERVICE}.urn_room_1`);
  assert.equal(n, "1");
});

const mysql = await mysqlServer();
after(() => mysql?.drop());

test("tables of version 1 in MySQL are gone on with: the position is read, and a row is added", {
  skip: mysql === undefined ? "MySQL is not reachable" : false,
}, async () => {
  if (mysql === undefined) return;
  const { host, port, user, password, prefix, query } = mysql;
  const schema = `${prefix}${SERVICE}`;
  await query(`CREATE DATABASE ${schema}`);
  await query(`USE ${schema}`);
  for (const statement of await keptTables("mysql")) await query(statement.replaceAll(SERVICE, schema));
  const server = { rdb_host: host, rdb_port: port, rdb_username: user, rdb_password: password } as const;
  const config = { ...server, rdb_dialect: "mysql", rdb_bookkeeping_database: schema, enable_lowercase: true } as const;

  const { sink } = sinkOf(config, undefined, undefined, { agent: "old", name: "my" });
  try {
    // All databases of the server are looked through: on one that others use, a sink may have that name, too.
    const own = (await sink.positions.stored(never)).filter((position) => position.startsWith("2b41544e3b436a04:"));
    assert.deepEqual(own, ["2b41544e3b436a04:99221224d17a:3"]);
    const room = eventOf(entity("urn:room:3", { number: "3" }), schema);
    await sink.persist({ events: [room], position: at("2b41544e3b436a04:99221224d17a:4") }, never);
  } finally {
    await sink.stop(never);
  }

  const [{ n } = {}] = await query(`SELECT count(*) AS n FROM ${schema}.urn_room_3`);
  assert.equal(n, "2");
  const [moved] = await query(`SELECT deneb_position AS at, deneb_events AS events FROM ${schema}.deneb_positions`);
  assert.deepEqual(moved, { at: "2b41544e3b436a04:99221224d17a:4", events: "4" });
});
