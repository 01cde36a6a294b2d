import assert from "node:assert/strict";
import { after, test } from "node:test";
import pg from "pg";
import { at } from "../../support/position.js";
import { postgresqlDatabase, type TestDatabase } from "../../support/postgresql.js";
import { wayToPostgresql } from "../../support/way-to-postgresql.js";
import { entity, eventOf, type LoggingSink, never, sinkOf } from "./sinks.js";

const database = await postgresqlDatabase();
after(() => database?.drop());
const skip = database === undefined ? "PostgreSQL is not reachable" : false;

function onDatabase(run: (database: TestDatabase, made: LoggingSink) => Promise<void>) {
  return async () => {
    if (database === undefined) throw new Error("PostgreSQL is not reachable");
    const { host, port, user, password } = database;
    const made = sinkOf({
      rdb_host: host,
      rdb_port: port,
      rdb_username: user,
      rdb_password: password,
      rdb_database: database.database,
    });
    try {
      await run(database, made);
    } finally {
      await made.sink.stop(never);
    }
  };
}

const commentOf =
  "SELECT obj_description(c.oid) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE nspname = $1";

test(
  "a shortened table name has the full id in its comment",
  { skip },
  onDatabase(async ({ query }, { sink }) => {
    const id = `urn:it's:\\${"x".repeat(80)}`;

    await sink.persist({ events: [eventOf(entity(id, { a: "1" }), "noted")] }, never);

    assert.deepEqual(await query(commentOf, ["noted"]), [{ obj_description: id }]);
  }),
);

test(
  "values of every length and script arrive whole, however the messages to the server are cut into pieces",
  { skip },
  onDatabase(async ({ query }, { sink }) => {
    const lengths = [0, 1, 2000, 2047, 2048, 21_845, 65_535, 65_536, 200_000];
    const texts = lengths.flatMap((length) =>
      ["a", "\u00e9", "\u20ac", "\u{1f600}"].map((unit) => unit.repeat(length)),
    );
    const events = texts.map((text, index) =>
      eventOf(entity(`piece${index % 3}`, { text, index: String(index) }), "pieces"),
    );

    await sink.persist({ events }, never);

    const rows = await query(
      "SELECT index, text FROM pieces.piece0 UNION ALL SELECT index, text FROM pieces.piece1 UNION ALL SELECT index, text FROM pieces.piece2",
    );
    const stored = rows.toSorted((a, b) => Number(a["index"]) - Number(b["index"])).map(({ text }) => text);
    assert.deepEqual(stored, texts);
  }),
);

test(
  "a write that waits ends when the signal is aborted, and nothing of it is stored",
  { skip },
  onDatabase(async ({ query, host, port, user, password, database }, { sink }) => {
    const event = eventOf(entity("w", { a: "1" }), "waiting");
    await sink.persist({ events: [event] }, never);
    const blocker = new pg.Client({ host, port, user, password, database });
    await blocker.connect();
    await blocker.query("BEGIN; LOCK TABLE waiting.w");
    const controller = new AbortController();

    const failure = assert.rejects(sink.persist({ events: [event] }, controller.signal), {
      code: "WRITE_ABORTED",
      retryable: true,
    });
    while ((await query("SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'waiting.w'::regclass")).length === 0);
    controller.abort();
    await failure;
    await blocker.end();

    assert.equal((await query("SELECT 1 FROM waiting.w")).length, 1);
  }),
);

test(
  "an event that a view refuses is found, and does not hold up others",
  { skip },
  onDatabase(async ({ query }, { sink }) => {
    await query("CREATE SCHEMA viewed");
    await query("CREATE TABLE viewed.b (recvtime text, entityid text, entitytype text, a text)");
    await query("CREATE VIEW viewed.e AS SELECT DISTINCT * FROM viewed.b");
    await sink.persist({ events: [eventOf(entity("e", { a: "1" }), "beside")] }, never);

    const failure = await sink
      .persist({ events: [eventOf(entity("e", { a: "1" }), "viewed")] }, never)
      .catch((error: unknown) => error);

    assert.match(String(failure), /cannot insert into view/);
    assert.equal(await sink.answers(failure, never), "lasting");
  }),
);

test(
  "a connection that the server ended is replaced at the next write",
  { skip },
  onDatabase(async ({ query, database }, { sink }) => {
    const batch = { events: [eventOf(entity("c", { a: "1" }), "cut")] };
    await sink.persist(batch, never);
    await query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1 AND application_name = 'deneb'",
      [database],
    );

    await sink.persist(batch, never).catch(() => sink.persist(batch, never));

    assert.equal((await query("SELECT 1 FROM cut.c")).length, 2);
  }),
);

test(
  "a user without the right to create stores into tables that exist",
  { skip },
  onDatabase(async ({ query, host, port, database }, { sink }) => {
    await sink.persist({ events: [eventOf(entity("g", { a: "1" }), "granted")] }, never);
    const user = `${database}_user`;
    await query(`CREATE USER ${user} PASSWORD 'x'`);
    await query(`GRANT USAGE ON SCHEMA granted TO ${user}`);
    await query(`GRANT INSERT ON granted.g TO ${user}`);
    const limited = sinkOf({
      rdb_host: host,
      rdb_port: port,
      rdb_database: database,
      rdb_username: user,
      rdb_password: "x",
    }).sink;

    await limited.persist({ events: [eventOf(entity("g", { a: "2" }), "granted")] }, never);
    const refused = limited.persist({ events: [eventOf(entity("h", { a: "2" }), "granted")] }, never);

    await assert.rejects(refused, {
      message: /^a right is missing in database .*; grant it to the user; the table is "granted\.h"$/,
      retryable: true,
    });
    await limited.stop(never);
    await query(`DROP OWNED BY ${user}`);
    await query(`DROP USER ${user}`);
    assert.equal((await query("SELECT 1 FROM granted.g")).length, 2);
  }),
);

test("a batch for a known table takes two round trips, the statement timeout none", { skip }, async (context) => {
  if (database === undefined) throw new Error("PostgreSQL is not reachable");
  const { user, password, database: name } = database;
  const way = await wayToPostgresql(context);
  const config = { rdb_host: "127.0.0.1", rdb_port: way.port, rdb_username: user, rdb_password: password };
  const { sink } = sinkOf({ ...config, rdb_database: name });
  context.after(() => sink.stop(never));
  const batch = (a: string) => ({ events: [eventOf(entity("r", { a }), "trips")], position: at(`trips:${a}`) });
  await sink.persist(batch("1"), never);
  const before = way.roundTrips();

  await sink.persist(batch("2"), never);

  assert.equal(way.roundTrips() - before, 2);
});

test("without rdb_statement_timeout the limit of the user counts", { skip }, async (context) => {
  if (database === undefined) throw new Error("PostgreSQL is not reachable");
  const { host, port, user, password, database: name, query } = database;
  await query(`ALTER DATABASE "${name}" SET statement_timeout = 200`);
  const config = { rdb_host: host, rdb_port: port, rdb_username: user, rdb_password: password, rdb_database: name };
  const { sink } = sinkOf({ ...config, rdb_statement_timeout: 0 });
  context.after(() => sink.stop(never));
  const events = [eventOf(entity("w", { a: "1" }), "limited")];
  await sink.persist({ events }, never);
  const locker = new pg.Client({ host, port, user, password, database: name });
  await locker.connect();
  await locker.query("BEGIN; LOCK TABLE limited.w");

  await assert.rejects(sink.persist({ events }, never), /canceling statement due to statement timeout/);

  await locker.end();
  await query(`ALTER DATABASE "${name}" RESET statement_timeout`);
});
