import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Context, Event } from "../../../core/sdk/index.js";
import { SqlStoredData } from "../../../core/sql/features/stored-data/stored-data.js";
import { databases } from "../../../plugins/rdb-sink/databases.js";
import { mysqlServer } from "../../support/mysql.js";
import { recordingLog } from "../../support/recording-log.js";
import { configOf, entity, eventOf, never, onMysql, sinkOf } from "./sinks.js";

const server = await mysqlServer();
after(() => server?.drop());
const skip = server === undefined ? "MySQL is not reachable" : false;
const clock = () => new Date("2026-12-31T12:00:00.000Z");

function at(time: string, service: string): Event {
  const event = eventOf(entity("urn:x", { a: time }), service);
  return { ...event, headers: { ...event.headers, timestamp: String(Date.parse(time)) } };
}

test("MySQL copies a plain table into partitions while rows arrive, and drops the old ones later", {
  skip,
}, async (context) => {
  if (server === undefined) return;
  const service = `${server.prefix}copied`;
  const base = onMysql(server);
  const identity = { name: service };
  const { sink } = sinkOf(base, clock, undefined, identity);
  context.after(() => sink.stop(never));
  await sink.persist({ events: [at("2026-01-01T00:00:00.000Z", service)] }, never);
  let count = 1;
  let writing = true;
  const writer = (async () => {
    for (; writing; count += 1) await sink.persist({ events: [at("2026-12-31T12:00:00.000Z", service)] }, never);
  })();

  const config = configOf({ ...base, partition: "day", indexes: true, retention_days: 10 });
  const own: Context = { ...identity, log: recordingLog().log, dataDir: "", run: "run", now: clock };
  const data = new SqlStoredData(config, own, databases.mysql.open(config, own));
  const results = await data.partition([], false, never);
  const again = await data.partition([], false, never);
  await data.close();
  writing = false;
  await writer;
  const table = `\`${service}\`.urn_x`;
  const [copied] = await server.query(`SELECT count(*) AS n FROM ${table}`);
  const sweeping = sinkOf(
    { ...base, partition: "day", retention_days: 10 },
    () => new Date("2027-01-10T12:00:00.000Z"),
    undefined,
    identity,
  );
  context.after(() => sweeping.sink.stop(never));
  await sweeping.sink.persist({ events: [at("2027-01-10T12:00:00.000Z", service)] }, never);
  await sweeping.sink.sweep();
  // Now a partition has no beginning.
  await sweeping.sink.sweep();
  const [kept] = await server.query(`SELECT count(*) AS n FROM ${table}`);

  assert.deepEqual(
    [...results, ...again].map(({ reason }) => reason ?? "").filter((reason) => reason.includes("failed")),
    [],
  );
  assert.deepEqual(
    [...results, ...again].map(({ outcome }) => outcome),
    ["done", "unchanged"],
  );
  assert.equal(Number(copied?.["n"]), count);
  assert.equal(Number(kept?.["n"]), count - 1 + 1);
  assert.deepEqual(
    sweeping.lines.filter(({ level }) => level === "warn"),
    [],
  );
});
