import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { RowSelection } from "../../../core/sdk/index.js";
import { storedData } from "../../../core/sql/index.js";
import { databases } from "../../../plugins/rdb-sink/databases.js";
import { postgresqlDatabase } from "../../support/postgresql.js";
import { recordingLog } from "../../support/recording-log.js";
import { configOf, entity, eventOf, never, sinkOf } from "./sinks.js";

const server = await postgresqlDatabase();
after(() => server?.drop());
const skip = server === undefined ? "PostgreSQL is not reachable" : false;

const ID = "urn:e";
const TOKYO = 9 * 3_600_000;

/** A table of others whose times have no zone, in a database whose sessions have one, with a row of the sink and more. */
async function stored() {
  if (server === undefined) throw new Error("PostgreSQL is not reachable");
  const { host, port, user, password, database, query } = server;
  await query(`ALTER DATABASE ${database} SET timezone = 'Asia/Tokyo'`);
  await query("SET timezone = 'Asia/Tokyo'");
  await query("CREATE SCHEMA svc");
  await query(
    "CREATE TABLE svc.urn_e (recvtime timestamp, entityid text, entitytype text, p text, day date, at timestamptz)",
  );
  const place = { rdb_host: host, rdb_port: port, rdb_username: user, rdb_password: password, rdb_database: database };
  const { sink } = sinkOf({ ...place, views: true });
  await sink.persist(
    { events: [eventOf(entity(ID, { p: "1", day: "2020-05-13", at: "2020-05-13T10:00:00Z" }), "svc")] },
    never,
  );
  await sink.flush();
  await sink.stop(never);
  const config = configOf(place);
  const own = { name: "sink", log: recordingLog().log, dataDir: "", run: "run", now: () => new Date(0) };
  const data = storedData(config, own, databases.postgresql.open(config, own));
  const rows = async (selection: RowSelection) => {
    const all: unknown[] = [];
    for await (const table of data.rows?.(selection, never) ?? [])
      for await (const page of table.rows) all.push(...page);
    return all;
  };
  return { query, rows, close: () => data.close() };
}

test("times without a zone are in UTC, whatever zone the sessions of the server have", { skip }, async () => {
  const { query, rows, close } = await stored();
  const received = "2020-05-13T14:46:21.918Z";
  const around = (millis: number) => new Date(Date.parse(received) + millis);

  const all = await rows({ entity: ID });
  const within = await rows({ entity: ID, from: around(0), to: around(1) });
  const shifted = await rows({ entity: ID, from: around(-TOKYO - 1), to: around(-TOKYO + 1) });
  const [viewed] = await query("SELECT deneb_time::text AS time FROM svc.deneb_all_t");

  const expected = [
    "2020-05-13T14:46:21.918000Z",
    ID,
    "T",
    "1",
    "2020-05-13T00:00:00.000000Z",
    "2020-05-13T10:00:00.000000Z",
  ];
  assert.deepEqual(all, [expected]);
  assert.deepEqual(within, [expected]);
  assert.deepEqual(shifted, []);
  assert.equal(viewed?.["time"], "2020-05-13 23:46:21.918+09");

  await query("DELETE FROM svc.urn_e");
  await query(
    `INSERT INTO svc.urn_e (entityid, day, at) VALUES ('${ID}', 'infinity', '-infinity'), ('${ID}', '0044-03-15 BC', '0044-03-15 12:00:00+00 BC')`,
  );
  assert.deepEqual(await rows({ entity: ID }), [
    [undefined, ID, undefined, undefined, "infinity", "-infinity"],
    [undefined, ID, undefined, undefined, "0044-03-15T00:00:00.000000Z BC", "0044-03-15T12:00:00.000000Z BC"],
  ]);
  await close();
});
