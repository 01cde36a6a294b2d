import assert from "node:assert/strict";
import { test } from "node:test";
import { createConnection } from "mysql2/promise";
import pg from "pg";
import { mayBeStored } from "../../../core/sdk/errors.js";
import { codeOf, retryableOf } from "../../../core/sdk/index.js";
import type { RdbConfig } from "../../../plugins/rdb-sink/config.js";
import { mysqlServer } from "../../support/mysql.js";
import { mysqlPrograms } from "../../support/mysql-programs.js";
import { startOwnMysql } from "../../support/own-mysql.js";
import { at } from "../../support/position.js";
import { postgresqlDatabase, type TestDatabase } from "../../support/postgresql.js";
import { until } from "../../support/until.js";
import { NO_PROGRAMS, ownPostgresqlServer } from "./own-postgresql-server.js";
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

  const lost = assert.rejects(sink.persist(batch("2"), dying.signal), { code: "WRITE_ABORTED", mayBeStored: true });
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

test("a commit that PostgreSQL does not finish in time is one that took too long, and standbys are named", async (context) => {
  const database = await postgresqlDatabase();
  if (database === undefined) return context.skip("PostgreSQL is not reachable");
  context.after(() => database.drop());
  const { sink } = sinkOf({ ...configOf(database), rdb_statement_timeout: 1000, rdb_connect_timeout: 1000 });
  context.after(() => sink.stop(AbortSignal.abort()));
  const batch = (a: string) => ({ events: [eventOf(entity("e", { a }), "slow")] });
  await until(
    () => sink.persist(batch("1"), never).then(Boolean, () => false),
    (stored) => stored,
  );
  await database.query(SLOW_COMMITS);
  await database.query("SELECT pg_advisory_lock(1)");

  await assert.rejects(sink.persist(batch("2"), never), {
    code: "STATEMENT_TIMEOUT",
    message: /took longer than 2000 milliseconds .* see whether a synchronous standby is away/,
  });
});

test("nothing says that a batch may be stored of which PostgreSQL refused a row, or that was aborted before its commit", async (context) => {
  const database = await postgresqlDatabase();
  if (database === undefined) return context.skip("PostgreSQL is not reachable");
  context.after(() => database.drop());
  const { sink } = sinkOf(configOf(database));
  context.after(() => sink.stop(AbortSignal.abort()));
  const batch = (a: string) => ({ events: [eventOf(entity("e", { a }), "slow")], position: at(`c:${a}`) });
  await sink.persist(batch("1"), never);
  const failure = async (signal: AbortSignal) =>
    await sink.persist(batch("2"), signal).catch((error: unknown) => error);
  const dying = new AbortController();
  await database.query(SLOW_COMMITS.replace("DEFERRABLE INITIALLY DEFERRED", "NOT DEFERRABLE"));
  await database.query("SELECT pg_advisory_lock(1)");

  const aborted = failure(dying.signal);
  await until(
    () => waiting(database, "advisory"),
    (count) => count === 1,
  );
  dying.abort();
  const first = await aborted;
  await database.query("SELECT pg_advisory_unlock(1)");
  await database.query("ALTER TABLE slow.e ADD CHECK (a = '1')");
  const second = await failure(never);

  assert.deepEqual([codeOf(first), codeOf(second)], ["WRITE_ABORTED", "DATA_REFUSED"]);
  assert.deepEqual([mayBeStored(first), mayBeStored(second)], [false, false]);
});

/** Until the server has read that it has a synchronous standby, some time after it was asked to, commits wait for none. */
async function commitsWait(admin: pg.Client, config: pg.ClientConfig): Promise<void> {
  const other = new pg.Client(config);
  await other.connect();
  const cancel = "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
  const held = async () => {
    let committed = false;
    let cancelled = false;
    const commit = other.query("SELECT pg_logical_emit_message(true, 'test', '')").then(() => {
      committed = true;
    });
    const look = async () => {
      cancelled = (await admin.query(cancel)).rowCount === 1;
      return cancelled || committed;
    };
    await until(look, Boolean);
    await commit;
    return cancelled;
  };
  await until(held, Boolean).finally(() => other.end());
}

test("a batch is stored when a synchronous standby has it, whoever ends the wait for that", async (context) => {
  const server = await ownPostgresqlServer(context);
  if (server === undefined) return context.skip(NO_PROGRAMS);
  const { host, port, user, admin } = server;
  await admin.query("ALTER DATABASE postgres SET client_min_messages = error");
  const { sink } = sinkOf({ rdb_host: host, rdb_port: port });
  context.after(() => sink.stop(AbortSignal.abort()));
  const batch = (a: string) => ({ events: [eventOf(entity("e", { a }), "standby")], position: at(`c:${a}`) });
  await sink.persist(batch("1"), never);
  await admin.query("SET synchronous_commit = local");
  await admin.query("ALTER SYSTEM SET synchronous_standby_names = 'away'");
  await admin.query("SELECT pg_reload_conf()");
  await commitsWait(admin, { host, port, user, database: "postgres" });
  // Those of a transaction are held until its wait is over; what repeats the wait holds none.
  const waiting = async (lock: string) => {
    const asked = `SELECT pid FROM pg_stat_activity a WHERE wait_event = 'SyncRep' AND $1 IN (
      SELECT mode FROM pg_locks l WHERE l.pid = a.pid AND relation = 'deneb.positions'::regclass
      UNION ALL SELECT 'none' WHERE NOT EXISTS (
        SELECT FROM pg_locks l WHERE l.pid = a.pid AND relation = 'deneb.positions'::regclass))`;
    const found = async () => (await admin.query<{ pid: number }>(asked, [lock])).rows;
    const [one] = await until(found, (rows) => rows.length > 0);
    return one?.pid;
  };

  const outcome = sink.persist(batch("2"), never).catch((error: unknown) => error);
  await admin.query("SELECT pg_cancel_backend($1)", [await waiting("RowExclusiveLock")]);
  await admin.query("SELECT pg_terminate_backend($1)", [await waiting("none")]);
  const failure = await outcome;
  const again = sink.persist(batch("2"), never);
  await waiting("ShareLock");
  await admin.query("ALTER SYSTEM RESET synchronous_standby_names");
  await admin.query("SELECT pg_reload_conf()");
  await again;

  assert.deepEqual([retryableOf(failure), mayBeStored(failure)], [true, true]);
  assert.deepEqual((await admin.query("SELECT a FROM standby.e")).rows, [{ a: "1" }, { a: "2" }]);
  await admin.end();
});

test("a batch is stored when a semi-synchronous replica has it, whoever ends the connection that waits for that", async (context) => {
  const programs = await mysqlPrograms();
  if (programs === undefined) return context.skip("mariadbd and mariadb-install-db are not installed");
  const own = await startOwnMysql(programs, ["--log-bin=binlog", "--rpl-semi-sync-master-timeout=3600000"]);
  const server = await mysqlServer({ host: own.host, port: own.port, user: own.user, password: "" });
  if (server === undefined) throw new Error("the server does not answer");
  const { sink } = sinkOf(onMysql(server));
  context.after(async () => {
    await Promise.all([sink.stop(AbortSignal.abort()), server.drop()]);
    await own.stop();
  });
  const batch = (a: string) => ({ events: [eventOf(entity("e", { a }), "replica")], position: at(`c:${a}`) });
  const waiting = async () => {
    const asked = "SELECT id FROM information_schema.processlist WHERE state LIKE 'Waiting for semi-sync ACK%'";
    const [one] = await until(
      () => server.query(asked),
      (rows) => rows.length > 0,
    );
    return one?.["id"];
  };
  await sink.persist(batch("1"), never);
  // Waits for a replica although there is none.
  await server.query("SET GLOBAL rpl_semi_sync_master_enabled = 1");

  const outcome = sink.persist(batch("2"), never).catch((error: unknown) => error);
  await server.query(`KILL ${await waiting()}`);
  const failure = await outcome;
  const again = sink.persist(batch("2"), never).then(() => "stored");
  const first = await Promise.race([again, waiting().then(() => "waiting")]);
  await server.query("SET GLOBAL rpl_semi_sync_master_enabled = 0");
  await again;

  assert.deepEqual([retryableOf(failure), mayBeStored(failure)], [true, true]);
  assert.equal(first, "waiting");
  assert.deepEqual(await server.query("SELECT a FROM replica.e"), [{ a: "1" }, { a: "2" }]);
  assert.deepEqual(await server.query("SELECT deneb_position AS kept FROM deneb.deneb_positions"), [{ kept: "c:2" }]);
});

test("a position of MySQL counts after a commit behind it, which leaves nothing, and needs no right that rows do not need", async (context) => {
  const programs = await mysqlPrograms();
  if (programs === undefined) return context.skip("mariadbd and mariadb-install-db are not installed");
  const own = await startOwnMysql(programs, ["--log-bin=binlog"]);
  const server = await mysqlServer({ host: own.host, port: own.port, user: own.user, password: "" });
  if (server === undefined) throw new Error("the server does not answer");
  const { sink } = sinkOf(onMysql(server));
  const limited = sinkOf({ ...onMysql(server), rdb_username: "app", rdb_password: "secret" });
  context.after(async () => {
    await Promise.all([sink.stop(never), limited.sink.stop(never), server.drop()]);
    await own.stop();
  });
  const commits = async () => {
    const [row] = await server.query("SHOW GLOBAL STATUS LIKE 'Binlog_commits'");
    return Number(row?.["Value"]);
  };
  const batch = (a: string) => ({ events: [eventOf(entity("e", { a }), "disk")], position: at(`c:${a}`) });
  const none = await sink.positions.stored(never);
  await sink.persist(batch("1"), never);
  const before = await commits();

  const stored = await sink.positions.stored(never);
  const after = await commits();
  await server.query("CREATE USER app@'%' IDENTIFIED BY 'secret'");
  await server.query("GRANT SELECT, INSERT, UPDATE, CREATE, ALTER ON *.* TO app@'%'");
  const ofLimited = await limited.sink.positions.stored(never);

  assert.deepEqual([none, stored, ofLimited], [[], ["c:1"], ["c:1"]]);
  assert.ok(after > before, `${after} commits after ${before}`);
  assert.equal((await server.query("SELECT 1 FROM deneb.deneb_positions")).length, 1);
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
