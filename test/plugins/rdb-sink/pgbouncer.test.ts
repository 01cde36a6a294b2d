import assert from "node:assert/strict";
import { after, type TestContext, test } from "node:test";
import pg from "pg";
import type { RdbConfig } from "../../../plugins/rdb-sink/config.js";
import plugin from "../../../plugins/rdb-sink/index.js";
import { at } from "../../support/position.js";
import { answersPostgresql, postgresqlDatabase, serverOfTests, type TestDatabase } from "../../support/postgresql.js";
import { pgbouncerOfTests } from "../../support/provided-pgbouncer.js";
import { recordingLog } from "../../support/recording-log.js";
import { wayToPostgresql } from "../../support/way-to-postgresql.js";
import { configOf, entity, eventOf, never, sinkOf } from "./sinks.js";
import { v2Attribute, v2Entity, v2Event } from "./v2-events.js";

const pooler = pgbouncerOfTests();
const reached = await answersPostgresql({ ...serverOfTests(), ...pooler });
const database = reached ? await postgresqlDatabase() : undefined;
after(() => database?.drop());
const skip = database === undefined ? "PgBouncer is not reachable" : false;

function configBehind({ user, password, database: name }: TestDatabase, { host, port } = pooler): Partial<RdbConfig> {
  return { rdb_host: host, rdb_port: port, rdb_username: user, rdb_password: password, rdb_database: name };
}

/** Through PgBouncer, which lends two server connections for one transaction each. */
function pooled(run: (given: { readonly server: TestDatabase; readonly context: TestContext }) => Promise<void>) {
  return async (context: TestContext) => {
    if (database === undefined) throw new Error("PgBouncer is not reachable");
    await run({ server: database, context });
  };
}

function sinkBehind(context: TestContext, server: TestDatabase, more: Partial<RdbConfig> = {}) {
  const { sink } = sinkOf({ ...configBehind(server), ...more });
  context.after(() => sink.stop(never));
  return sink;
}

test(
  "schemas, tables and columns are created, rows, last data and positions are stored",
  { skip },
  pooled(async ({ server, context }) => {
    const sink = sinkBehind(context, server, { last_data_mode: "both", attr_native_types: true });
    await sink.start();
    const car = (p: number, later: number, ...more: Parameters<typeof v2Attribute>[]) =>
      v2Event(v2Entity("car1", v2Attribute("p", "Number", p), ...more.map((one) => v2Attribute(...one))), "basics", {
        later,
      });

    await sink.persist({ events: [car(1, 0)], position: at("c:1") }, never);
    await sink.persist(
      { events: [car(2, 1000, ["q", "Text", "new"]), eventOf(entity("e", { a: "1" }), "basics2")] },
      never,
    );

    const rows = await server.query("SELECT p, q FROM basics.car1_t ORDER BY ctid");
    assert.deepEqual(rows, [
      { p: "1", q: null },
      { p: "2", q: "new" },
    ]);
    assert.deepEqual(await server.query("SELECT p, q FROM basics.car1_t_last_data"), [{ p: "2", q: "new" }]);
    assert.equal((await server.query("SELECT 1 FROM basics2.e")).length, 1);
    assert.deepEqual(await sink.positions.stored(never), ["c:1"]);
    assert.equal(
      (await server.query("SELECT 1 FROM deneb.tables WHERE schema_name = 'basics' AND kind <> 'service'")).length,
      2,
    );
  }),
);

test(
  "more sinks than the pooler has connections store at once",
  { skip },
  pooled(async ({ server, context }) => {
    const sinks = Array.from({ length: 6 }, () => sinkBehind(context, server));

    await Promise.all(
      sinks.map(async (sink, index) => {
        for (let at = 0; at < 10; at += 1)
          await sink.persist({ events: [eventOf(entity(`t${at % 3}`, { a: `${index}-${at}` }), "many")] }, never);
      }),
    );

    const rows = await server.query("SELECT a FROM many.t0 UNION SELECT a FROM many.t1 UNION SELECT a FROM many.t2");
    assert.equal(rows.length, 60);
  }),
);

test(
  "the server ends a write and a query at rdb_statement_timeout, and no other client gets that limit",
  { skip },
  pooled(async ({ server, context }) => {
    const events = [eventOf(entity("e", { a: "1" }), "limited")];
    await sinkBehind(context, server).persist({ events, position: at("l:1") }, never);
    const sink = sinkBehind(context, server, { rdb_statement_timeout: 200 });
    const locker = new pg.Client({ ...clientOf(server), ...serverOfTests() });
    await locker.connect();
    context.after(() => locker.end());
    await locker.query("BEGIN; LOCK TABLE limited.e; LOCK TABLE deneb.positions");

    const stopped = {
      code: "STATEMENT_TIMEOUT",
      retryable: true,
      message: /canceling statement due to statement timeout/,
    };
    await assert.rejects(sink.persist({ events }, never), stopped);
    await assert.rejects(sink.positions.stored(never), stopped);
    await locker.query("COMMIT");

    const others = Array.from({ length: 4 }, () => new pg.Client({ ...clientOf(server), ...pooler }));
    for (const client of others) await client.connect();
    const limits = await Promise.all(
      others.map((client) => client.query("SELECT pg_sleep(0.05), current_setting('statement_timeout') AS t")),
    );
    assert.deepEqual(
      limits.map(({ rows }) => rows[0].t),
      limits.map(() => "0"),
    );
    for (const client of others) await client.end();
    await sink.persist({ events }, never);
  }),
);

test(
  "a batch whose connection broke while it was committed is stored once",
  { skip },
  pooled(async ({ server, context }) => {
    const way = await wayToPostgresql(context, pooler);
    const { sink } = sinkOf(configBehind(server, { host: "127.0.0.1", port: way.port }));
    context.after(() => sink.stop(never));
    const batch = (a: string) => ({ events: [eventOf(entity("e", { a }), "cut")], position: at(`cut:${a}`) });
    await sink.persist(batch("1"), never);
    const broken = way.breakAtCommit();

    await assert.rejects(sink.persist(batch("2"), never), { retryable: true });
    await broken;
    await sink.persist(batch("2"), never);

    const rows = await server.query("SELECT a FROM cut.e ORDER BY ctid");
    assert.deepEqual(rows, [{ a: "1" }, { a: "2" }]);
  }),
);

test(
  "databases of a -database model are created",
  { skip },
  pooled(async ({ server, context }) => {
    const service = `${server.database}_made`;
    const sink = sinkBehind(context, server, { data_model: "dm-by-entity-database" });

    await sink.persist({ events: [eventOf(entity("e", { a: "1" }), service)] }, never);
    await sink.stop(never);

    assert.equal((await server.query("SELECT 1 FROM pg_database WHERE datname = $1", [service])).length, 1);
    await server.query(`DROP DATABASE "${service}" WITH (FORCE)`);
  }),
);

test(
  "queries find tables by currentSchema of rdb_options",
  { skip },
  pooled(async ({ server, context }) => {
    await sinkBehind(context, server).persist({ events: [eventOf(entity("e", { a: "1" }), "my queries")] }, never);
    const asked = { name: "query", log: recordingLog().log, dataDir: "", run: "run", now: () => new Date(0) };
    const config = configOf({ ...configBehind(server), rdb_options: "currentSchema=public,my_queries" });

    const result = await plugin.query?.(config, "SELECT a FROM e", asked);

    assert.deepEqual(result?.rows, [["1"]]);
  }),
);

function clientOf({ user, password, database: name }: TestDatabase): pg.ClientConfig {
  return { user, password, database: name };
}
