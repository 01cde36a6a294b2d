import assert from "node:assert/strict";
import { after, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { type Cell, plain } from "../../../core/sql/index.js";
import { databases } from "../../../plugins/rdb-sink/databases.js";
import { mysqlServer, type TestServer } from "../../support/mysql.js";
import { recordingLog } from "../../support/recording-log.js";
import { until } from "../../support/until.js";
import { configOf, never, onMysql } from "./sinks.js";

const server = await mysqlServer();
after(async () => await server?.drop());
const skip = server === undefined ? "MySQL is not reachable" : false;
const at = { database: "", schema: "" } as const;
const LIMIT = 10_000;

function driverOn(server: TestServer) {
  const context = { name: "s", log: recordingLog().log, dataDir: "", run: "run", now: () => new Date(0) };
  return databases.mysql.open(configOf(onMysql(server)), context).driver;
}

/** Some 25 MB: more than the buffers between the server and a reader hold. */
async function largeTable({ prefix, query }: TestServer): Promise<string> {
  const table = `${prefix}pages.large`;
  await query(`CREATE DATABASE ${prefix}pages`);
  await query(`CREATE TABLE ${table} (a varchar(200))`);
  await query(`INSERT INTO ${table} VALUES (REPEAT('x', 200))`);
  for (let doubled = 0; doubled < 17; doubled += 1) await query(`INSERT INTO ${table} SELECT a FROM ${table}`);
  return table;
}

/** Ends the connection, and resolves when it is gone. */
async function ended({ query }: TestServer, id: Cell): Promise<void> {
  await query(`KILL ${id}`);
  const found = async () => (await query(`SELECT id FROM information_schema.processlist WHERE id = ${id}`)).length;
  await until(found, (number) => number === 0);
}

async function rest(pages: AsyncIterator<readonly (readonly Cell[])[]>): Promise<string> {
  while ((await pages.next()).done !== true);
  return "all rows";
}

test("the rows of a statement end with an error when their connection ends, or the reader gives up", {
  skip,
}, async () => {
  if (server === undefined) return;
  const table = await largeTable(server);
  const text = `SELECT connection_id(), a FROM ${table}`;
  for (const end of ["server", "reader"] as const) {
    const driver = driverOn(server);
    const ending = new AbortController();
    const pages = driver.pages?.(plain(at, text), 1000, ending.signal)[Symbol.asyncIterator]();
    const first = await pages?.next();
    const id: Cell = first?.value?.[0]?.[0];
    if (end === "reader") ending.abort();
    else await ended(server, id);

    const outcome = Promise.race([pages && rest(pages), setTimeout(LIMIT, "nothing", { ref: false })]);

    await assert.rejects(outcome, { code: end === "reader" ? "WRITE_ABORTED" : "PROTOCOL_CONNECTION_LOST" }, end);
    await driver.close(never);
  }
});

test("a connection that ended between two statements is not used again, and readers may be slow", {
  skip,
}, async () => {
  if (server === undefined) return;
  const driver = driverOn(server);
  const read = async () => {
    const found: (readonly Cell[])[] = [];
    const text = "SELECT connection_id(), @@SESSION.net_write_timeout";
    for await (const page of driver.pages?.(plain(at, text), 10, never) ?? []) found.push(...page);
    return found[0] ?? [];
  };
  const [id, patience] = await read();
  await ended(server, id);
  await setTimeout(100);

  const [other] = await read();

  assert.notEqual(other, id);
  assert.equal(patience, "86400");
  await driver.close(never);
});
