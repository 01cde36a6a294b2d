import assert from "node:assert/strict";
import { test } from "node:test";
import { createConnection } from "mysql2/promise";
import pg from "pg";
import type { RdbConfig } from "../../../plugins/rdb-sink/config.js";
import { mysqlServer } from "../../support/mysql.js";
import { at } from "../../support/position.js";
import { postgresqlDatabase, type TestDatabase } from "../../support/postgresql.js";
import { until } from "../../support/until.js";
import { entity, eventOf, never, onMysql, sinkOf } from "./sinks.js";

// A constraint that is checked at the commit makes it wait for whoever holds the lock.
const SLOW_COMMITS = `
  CREATE FUNCTION slow.wait() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN PERFORM pg_advisory_xact_lock_shared(1); RETURN NULL; END $$;
  CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON slow.e DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION slow.wait()`;

test("a commit that PostgreSQL has not finished when its sink is gone counts for the next sink, and is not repeated", async (context) => {
  const database = await postgresqlDatabase();
  if (database === undefined) return context.skip("PostgreSQL is not reachable");
  context.after(() => database.drop());
  const { sink } = sinkOf(configOf(database));
  const batch = (a: string) => ({ events: [eventOf(entity("e", { a }), "slow")], position: at(`c:${a}`) });
  await sink.persist(batch("1"), never);
  await database.query(SLOW_COMMITS);
  await database.query("SELECT pg_advisory_lock(1)");
  const dying = new AbortController();

  const lost = assert.rejects(sink.persist(batch("2"), dying.signal), { code: "WRITE_ABORTED" });
  await until(
    () => waiting(database, "advisory"),
    (count) => count === 1,
  );
  dying.abort();
  await lost;
  await sink.stop(AbortSignal.abort());
  const { sink: next } = sinkOf(configOf(database));
  context.after(() => next.stop(never));
  const positions = next.positions.stored(never);
  await until(
    () => waiting(database, "relation"),
    (count) => count === 1,
  );
  await database.query("SELECT pg_advisory_unlock(1)");

  assert.deepEqual(await positions, ["c:2"]);
  await next.persist(batch("2"), never);
  assert.deepEqual(await database.query("SELECT a FROM slow.e"), [{ a: "1" }, { a: "2" }]);
});

test("a position that another transaction of MySQL is changing is read after that transaction", async (context) => {
  const server = await mysqlServer();
  if (server === undefined) return context.skip("MySQL is not reachable");
  context.after(() => server.drop());
  const { sink } = sinkOf(onMysql(server));
  context.after(() => sink.stop(never));
  const service = `${server.prefix}slow`;
  // Others use this server too.
  const [c, d] = [`${server.prefix}c`, `${server.prefix}d`];
  await sink.persist({ events: [eventOf(entity("e", { a: "1" }), service)], position: at(`${c}:1`) }, never);
  const { host, port, user, password } = server;
  const other = await createConnection({ host, port, user, password, database: "deneb" });
  context.after(() => other.end());
  await other.query("START TRANSACTION");
  await other.query("UPDATE deneb_positions SET deneb_position = ? WHERE deneb_channel = ?", [`${c}:2`, c]);
  const into = "INSERT INTO deneb_positions (deneb_sink, deneb_channel, deneb_position) VALUES ('sink', ?, ?)";
  await other.query(into, [d, `${d}:1`]);

  const positions = sink.positions.stored(never);
  const asked =
    "SELECT id FROM information_schema.processlist WHERE info LIKE '%LOCK IN SHARE MODE' AND id <> connection_id()";
  await until(
    () => server.query(asked),
    (found) => found.length > 0,
  );
  await other.query("COMMIT");

  const own = (await positions).filter((one) => one.startsWith(server.prefix));
  assert.deepEqual([...own].sort(), [`${c}:2`, `${d}:1`]);
});

test("two sinks that create the table of positions at the same time both store", async (context) => {
  const database = await postgresqlDatabase();
  if (database === undefined) return context.skip("PostgreSQL is not reachable");
  context.after(() => database.drop());
  const { host, port, user, password, database: name } = database;
  const other = new pg.Client({ host, port, user, password, database: name });
  await other.connect();
  const { sink } = sinkOf(configOf(database));
  context.after(() => sink.stop(never));
  await other.query("BEGIN; CREATE SCHEMA deneb");

  const stored = sink.persist({ events: [eventOf(entity("e", { a: "1" }), "raced")], position: at("c:1") }, never);
  await until(
    () => waiting(database, "transactionid"),
    (count) => count === 1,
  );
  await other.query("COMMIT");
  await other.end();

  await stored;
  assert.deepEqual(await database.query("SELECT a FROM raced.e"), [{ a: "1" }]);
});

function configOf({ host, port, user, password, database }: TestDatabase): Partial<RdbConfig> {
  return { rdb_host: host, rdb_port: port, rdb_username: user, rdb_password: password, rdb_database: database };
}

/** How many wait for a lock of this kind in this database. */
async function waiting(database: TestDatabase, locktype: string): Promise<number> {
  const [row] = await database.query(
    `SELECT count(*) FROM pg_locks JOIN pg_stat_activity USING (pid)
     WHERE NOT granted AND locktype = $1 AND datname = current_database()`,
    [locktype],
  );
  return Number(row?.["count"]);
}
