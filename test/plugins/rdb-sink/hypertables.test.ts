import assert from "node:assert/strict";
import { test } from "node:test";
import {
  at,
  base,
  clock,
  converted,
  listedTables,
  noon,
  partitions,
  query,
  server,
  skip,
} from "./partitioned-postgresql.js";
import { never, sinkOf } from "./sinks.js";

const [timescale] = (await server?.query("SELECT 1 FROM pg_available_extensions WHERE name = 'timescaledb'")) ?? [];

const without = timescale === undefined ? "TimescaleDB is not installed" : false;
const hypertables = { ...base, partition: "day", attr_native_types: true, timescaledb: true } as const;

test("hypertables of TimescaleDB take rows, and their old chunks are dropped", {
  skip: without,
}, async (context) => {
  await query("CREATE EXTENSION IF NOT EXISTS timescaledb");
  const { sink } = sinkOf({ ...hypertables, retention_days: 1 }, clock(noon));
  context.after(() => sink.stop(never));

  for (const time of ["2026-12-28T12:00:00.000Z", noon, "2027-01-05T12:00:00.000Z"])
    await sink.persist({ events: [at(time, "hyper")] }, never);
  await sink.sweep();

  assert.equal((await query("SELECT * FROM hyper.urn_x")).length, 2);
});

test("without TimescaleDB the error says what to run, and the events are tried again", { skip }, async (context) => {
  if (timescale !== undefined) return context.skip("TimescaleDB is installed");
  const { sink } = sinkOf(hypertables, clock(noon));
  context.after(() => sink.stop(never));

  await assert.rejects(sink.persist({ events: [at(noon, "nohyper")] }, never), {
    retryable: true,
    message: /CREATE EXTENSION timescaledb/,
  });
});

test("with timescaledb a plain table is refused with what to run, and a hypertable stays, also one of others", {
  skip,
}, async (context) => {
  if (timescale !== undefined)
    return context.skip("TimescaleDB is installed, and this puts a table in place of its view");
  const { sink } = sinkOf({ ...base, attr_native_types: true }, clock(noon));
  context.after(() => sink.stop(never));
  await sink.persist({ events: [at(noon, "plainhyper")] }, never);
  const result = async () => {
    const config = { attr_native_types: true, timescaledb: true } as const;
    const [only] = await converted(config, { tables: ["plainhyper.urn_x"] });
    return only;
  };

  const without = await result();
  await query("CREATE SCHEMA timescaledb_information");
  context.after(() => query("DROP SCHEMA timescaledb_information CASCADE"));
  await query("CREATE TABLE timescaledb_information.hypertables (hypertable_schema text, hypertable_name text)");
  const plain = await result();
  await query("INSERT INTO timescaledb_information.hypertables VALUES ('plainhyper', 'urn_x')");
  const hyper = await result();
  const ofOthers = await converted({ attr_native_types: true }, { tables: ["plainhyper.urn_x"] });
  const unindexed = await converted({ indexes: true }, { tables: ["plainhyper.urn_x"], dryRun: true });

  assert.match(without?.reason ?? "", /CREATE EXTENSION timescaledb/);
  assert.equal(plain?.outcome, "refused");
  assert.match(
    plain?.reason ?? "",
    /run SELECT create_hypertable\('"plainhyper"."urn_x"', 'recvtime', .*interval '1 day', .*migrate_data => true\)/,
  );
  assert.deepEqual([hyper?.outcome, hyper?.reason], ["unchanged", "it is a hypertable"]);
  assert.deepEqual([ofOthers[0]?.outcome, ofOthers[0]?.reason], ["unchanged", "it is a hypertable"]);
  assert.deepEqual([unindexed[0]?.outcome, unindexed[0]?.reason], ["done", "indexes deneb_urn_x_time"]);
  assert.deepEqual(await partitions("plainhyper.urn_x"), []);
});

for (const type of ["timestamptz", "timestamp", "date"])
  test(`chunks of a hypertable over a column of ${type} are dropped by a time of that type`, {
    skip: without,
  }, async (context) => {
    const service = `chunks_${type}`;
    await query("CREATE EXTENSION IF NOT EXISTS timescaledb");
    await query(`CREATE SCHEMA ${service}`);
    await query(`CREATE TABLE ${service}.urn_x (recvtime ${type}, entityid text, entitytype text)`);
    await query(`SELECT create_hypertable('${service}.urn_x', 'recvtime', chunk_time_interval => interval '1 day')`);
    const { sink } = sinkOf({ ...hypertables, retention_days: 1 }, clock(noon));
    context.after(() => sink.stop(never));
    for (const time of ["2026-12-28T12:00:00.000Z", noon]) await sink.persist({ events: [at(time, service)] }, never);

    await sink.sweep();

    assert.equal((await query(`SELECT * FROM ${service}.urn_x`)).length, 1);
  });

test("a hypertable of others gets its missing indexes, and the list shows its chunks and rows", {
  skip: without,
}, async (context) => {
  await query("CREATE EXTENSION IF NOT EXISTS timescaledb");
  const { sink } = sinkOf({ ...base, attr_native_types: true }, clock(noon));
  context.after(() => sink.stop(never));
  const times = ["2026-12-28T12:00:00.000Z", "2026-12-28T13:00:00.000Z", noon];
  await sink.persist({ events: times.map((time) => at(time, "others")) }, never);
  await query(
    "SELECT create_hypertable('others.urn_x', 'recvtime', create_default_indexes => false, migrate_data => true)",
  );

  const call = { tables: ["others.urn_x"] };
  const first = await converted({ attr_native_types: true, indexes: true }, call);
  const second = await converted({ attr_native_types: true, indexes: true }, call);
  await query("ANALYZE others.urn_x");
  const [listed] = await listedTables(["others.urn_x"]);

  assert.deepEqual([first[0]?.outcome, first[0]?.reason], ["done", "indexes deneb_urn_x_time"]);
  assert.deepEqual([second[0]?.outcome, second[0]?.reason], ["unchanged", "it is a hypertable"]);
  assert.deepEqual([listed?.rows, (listed?.partitions ?? 0) > 0], [3, true]);
});
