import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { RowSelection } from "../../../core/sdk/index.js";
import { storedData } from "../../../core/sql/index.js";
import { databases } from "../../../plugins/rdb-sink/databases.js";
import { postgresqlDatabase } from "../../support/postgresql.js";
import { recordingLog } from "../../support/recording-log.js";
import { configOf, entity, eventOf, never, receivedAt as received, sinkOf } from "./sinks.js";
import { v2Attribute, v2Entity, v2Event } from "./v2-events.js";

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

test("last data are those of the latest time in UTC, whatever zone and summer time the sessions of the server have", {
  skip,
}, async (context) => {
  const madrid = await postgresqlDatabase();
  if (madrid === undefined) return context.skip("PostgreSQL is not reachable");
  context.after(() => madrid.drop());
  const { host, port, user, password, database, query } = madrid;
  await query(`ALTER DATABASE ${database} SET timezone = 'Europe/Madrid'`);
  const place = { rdb_host: host, rdb_port: port, rdb_username: user, rdb_password: password, rdb_database: database };
  const config = { ...place, last_data_mode: "upsert" } as const;
  const { sink } = sinkOf(config);
  const measured = sinkOf({ ...config, last_data_timestamp_key: "measured" }).sink;
  context.after(async () => {
    await sink.stop(never);
    await measured.stop(never);
  });
  // There is no 02:30 in Madrid on this day.
  const times = ["2026-03-29T02:30:00Z", "2026-03-29T03:10:00Z"].map((time) => Date.parse(time) - Date.parse(received));

  for (const later of times)
    await sink.persist(
      { events: [v2Event(v2Entity("car", v2Attribute("p", "Number", later)), "svc", { later })] },
      never,
    );
  for (const time of ["2026-07-01T10:00:00Z", "2026-07-01T11:30:00", "2026-07-01T12:00:00+02:00"])
    await measured.persist({ events: [eventOf(entity("urn:m", { measured: time }), "svc")] }, never);

  assert.deepEqual(await query("SELECT p FROM svc.car_t_last_data"), [{ p: String(times[1]) }]);
  assert.deepEqual(await query("SELECT measured FROM svc.urn_m_last_data"), [{ measured: "2026-07-01T11:30:00" }]);
});

const layouts = [
  { attr_persistence: "column", last_data_mode: "both", last_data_timestamp_key: "p" },
  { attr_persistence: "row", last_data_mode: "insert" },
] as const;

for (const layout of layouts)
  for (const type of ["timestamptz", "timestamp"])
    test(`a time of reception that becomes a ${type} while rows come stays in UTC (${layout.attr_persistence})`, {
      skip,
    }, async (context) => {
      const tokyo = await postgresqlDatabase();
      if (tokyo === undefined) return context.skip("PostgreSQL is not reachable");
      context.after(() => tokyo.drop());
      const { host, port, user, password, database, query } = tokyo;
      await query(`ALTER DATABASE ${database} SET timezone = 'Asia/Tokyo'`);
      const place = { rdb_host: host, rdb_port: port, rdb_username: user, rdb_password: password };
      const { sink } = sinkOf({ ...place, rdb_database: database, ...layout });
      context.after(() => sink.stop(never));
      const event = (id: string, minute: string) =>
        v2Event(v2Entity(id, v2Attribute("p", "Text", `2026-07-01T11:${minute}:00Z`)), "svc");
      const ids = ["alone", "copied"];
      for (const id of ids) await sink.persist({ events: [event(id, "01"), event(id, "02")] }, never);
      const tables = await query(
        "SELECT table_name FROM information_schema.columns WHERE table_schema = 'svc' AND column_name = 'recvtime'",
      );
      for (const { table_name } of tables)
        await query(
          `ALTER TABLE svc."${table_name}" ALTER recvtime TYPE ${type} USING ${type === "timestamp" ? "recvtime::timestamp" : "(recvtime || 'Z')::timestamptz"}`,
        );

      await sink.persist({ events: [event("alone", "03")] }, never);
      await sink.persist({ events: [event("copied", "03"), event("copied", "04")] }, never);

      assert.equal(tables.length, layout.last_data_mode === "both" ? 4 : 2);
      const utc = received.replace("T", " ").replace("Z", "");
      for (const { table_name } of tables) {
        const time = type === "timestamp" ? "recvtime" : "recvtime AT TIME ZONE 'UTC'";
        const times = await query(`SELECT DISTINCT (${time})::text AS time FROM svc."${table_name}"`);
        assert.deepEqual(times, [{ time: utc }], String(table_name));
      }
    });

test("an attribute of last data whose column becomes a time while rows come stays in UTC, also where earlier values had a zone", {
  skip,
}, async (context) => {
  const tokyo = await postgresqlDatabase();
  if (tokyo === undefined) return context.skip("PostgreSQL is not reachable");
  context.after(() => tokyo.drop());
  const { host, port, user, password, database, query } = tokyo;
  await query(`ALTER DATABASE ${database} SET timezone = 'Asia/Tokyo'`);
  const place = { rdb_host: host, rdb_port: port, rdb_username: user, rdb_password: password };
  const layout = { last_data_mode: "upsert", last_data_timestamp_key: "n" } as const;
  const { sink } = sinkOf({ ...place, rdb_database: database, ...layout });
  context.after(() => sink.stop(never));
  const event = (n: number, p: string) =>
    v2Event(v2Entity("e", v2Attribute("n", "Text", `2026-07-0${n}T11:00:00Z`), v2Attribute("p", "Text", p)), "svc");
  await sink.persist({ events: [event(1, "2026-07-01T11:01:00Z")] }, never);
  await sink.persist({ events: [event(2, "2026-07-01T11:02:00Z")] }, never);
  await query("ALTER TABLE svc.e_t_last_data ALTER p TYPE timestamptz USING p::timestamptz");

  await sink.persist({ events: [event(3, "2026-07-01T11:03:00")] }, never);

  const [row] = await query("SELECT (p AT TIME ZONE 'UTC')::text AS p FROM svc.e_t_last_data");
  assert.deepEqual(row, { p: "2026-07-01 11:03:00" });
});

// In Madrid the clocks have no 02:30 on this day, and an hour later they have 03:30.
const texts = ["2026-03-29 02:30:00.000", "2026-03-29 03:10:00.000"] as const;
const formats = ["YYYY-MM-DD HH24:MI:SS.MS", "FXYYYY-MM-DD HH24:MI:SS.MS", 'YYYY-MM-DD HH24:MI:SS.MS"TZ"'] as const;

for (const [index, last_data_sql_timestamp_format] of formats.entries())
  test(`last data are of the later time where ${last_data_sql_timestamp_format} reads it, in summer time too`, {
    skip,
  }, async () => {
    if (server === undefined) return;
    const { host, port, user, password, database, query } = server;
    await query(`ALTER DATABASE ${database} SET timezone = 'Europe/Madrid'`);
    const place = { rdb_host: host, rdb_port: port, rdb_username: user, rdb_password: password };
    const how = { last_data_mode: "upsert", last_data_timestamp_key: "at", last_data_sql_timestamp_format } as const;
    const { sink } = sinkOf({ ...place, rdb_database: database, ...how });

    for (const at of texts) await sink.persist({ events: [eventOf(entity("urn:e", { at }), `read${index}`)] }, never);
    await sink.stop(never);

    assert.deepEqual(await query(`SELECT at FROM read${index}.urn_e_last_data`), [{ at: texts[1] }]);
  });
