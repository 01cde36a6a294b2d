import assert from "node:assert/strict";
import { after, test } from "node:test";
import pg from "pg";
import type { Event } from "../../../core/sdk/index.js";
import type { RdbConfig } from "../../../plugins/rdb-sink/config.js";
import { postgresqlErrors } from "../../../plugins/rdb-sink/postgresql/errors.js";
import { withHolder } from "../../../plugins/rdb-sink/postgresql/held-locks.js";
import { at } from "../../support/position.js";
import { postgresqlDatabase } from "../../support/postgresql.js";
import { until } from "../../support/until.js";
import { entity, eventOf, never, sinkOf } from "./sinks.js";

const database = await postgresqlDatabase();
after(() => database?.drop());
const skip = database === undefined ? "PostgreSQL is not reachable" : false;

const batch = (service: string) => ({ events: [eventOf(entity("e", { a: "1" }), service)], position: at("c:1") });

function sinkThere(more: Partial<RdbConfig> = {}) {
  if (database === undefined) throw new Error("PostgreSQL is not reachable");
  const { host, port, user, password } = database;
  return sinkOf({
    rdb_host: host,
    rdb_port: port,
    rdb_username: user,
    rdb_password: password,
    rdb_database: database.database,
    ...more,
  }).sink;
}

test("a table that somebody keeps locked is waited for, also where lock_timeout of the user ends each wait", {
  skip,
}, async (context) => {
  if (database === undefined) return;
  const { host, port, user, password, query } = database;
  await query(`ALTER DATABASE ${database.database} SET lock_timeout = '50ms'`);
  const sink = sinkThere();
  context.after(() => sink.stop(never));
  for (const service of ["free", "locked"]) await sink.persist({ events: batch(service).events }, never);
  const locker = new pg.Client({
    host,
    port,
    user,
    password,
    database: database.database,
    application_name: "a person",
  });
  await locker.connect();
  await locker.query("BEGIN; LOCK TABLE locked.e IN ACCESS EXCLUSIVE MODE");

  const failure = await sink.persist({ events: batch("locked").events }, never).catch((error: unknown) => error);
  const answer = await sink.answers(failure, never);
  await locker.end();

  const told =
    /somebody keeps a table of .* locked: .*; process \d+ of user ".+" \(application "a person"\) holds locked\.e in a transaction/;
  assert.match(String(failure), told);
  assert.match(String(failure), /; end that transaction, or raise lock_timeout/);
  assert.equal(answer, false);
});

test("a transaction that was left open is named where a change of a table, or a schema that it makes too, waits for it in vain", {
  skip,
}, async (context) => {
  if (database === undefined) return;
  const { host, port, user, password } = database;
  const sink = sinkThere({ rdb_statement_timeout: 300 });
  context.after(() => sink.stop(never));
  await sink.persist({ events: batch("left").events }, never);
  const left = new pg.Client({ host, port, user, password, database: database.database, application_name: "left" });
  await left.connect();
  const failureOf = async (statement: string, events: readonly Event[]) => {
    await left.query(`BEGIN; ${statement}`);
    const failure = await sink.persist({ events }, never).catch((error: unknown) => error);
    await left.query("ROLLBACK");
    return String(failure);
  };

  const altering = await failureOf('SELECT FROM "left".e', [eventOf(entity("e", { b: "2" }), "left")]);
  const making = await failureOf("CREATE SCHEMA making", batch("making").events);
  await left.end();

  const by = '; process \\d+ of user ".+" \\(application "left"\\)';
  assert.match(altering, new RegExp(`${by} holds "left".e in a transaction since \\d{4}-`));
  assert.match(making, new RegExp(`${by} has not committed a change since \\d{4}-`));
});

test("a prepared transaction that keeps a table locked has no process", () => {
  const error = Object.assign(new Error("canceling statement due to lock timeout"), { code: "55P03" });

  const { message, code } = withHolder(error, [["svc.room", undefined, undefined, undefined, undefined]]);

  assert.equal(message, `${error.message}; a prepared transaction holds svc.room (pg_prepared_xacts)`);
  assert.equal(code, "55P03");
  assert.equal(withHolder(error, []).message, error.message);
});

test("a statement that took too long says to end the transaction that holds a lock, where there is one", () => {
  const store = { address: "db:5432", database: "d", username: "u", options: "" };
  const error = Object.assign(new Error("canceling statement due to statement timeout"), { code: "57014" });
  const explained = (rows: readonly (readonly string[])[]) =>
    postgresqlErrors.explain({ code: "57014", message: withHolder(error, rows).message }, store);

  const since = "2026-01-15T10:00:00Z";
  assert.match(
    explained([["svc.room", "7", "anna", "psql", since]]),
    /; process 7 of user "anna" .* since 2026-01-15T10:00:00Z; end that transaction if the agent waits for it, else raise rdb_statement_timeout$/,
  );
  assert.match(
    explained([]),
    /timeout; a batch is written in parts then, raise rdb_statement_timeout if it needs more$/,
  );
});

test("a connection that the server ends between two statements fails with what the server said", {
  skip,
}, async (context) => {
  if (database === undefined) return;
  const sink = sinkThere();
  context.after(() => sink.stop(never));
  await sink.persist({ events: batch("idle").events }, never);
  context.after(() => database.query(`ALTER DATABASE ${database.database} RESET ALL`));
  await database.query(`ALTER DATABASE ${database.database} SET idle_in_transaction_session_timeout = '1ms'`);
  await database.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()`);
  const messages = new Set<string>();
  const told = /ends connections that are idle for a moment: .*; raise idle_in_transaction_session_timeout and/;

  await until(
    async () => await sink.persist({ events: batch("idle").events }, never).catch((error: unknown) => error),
    (error) => error instanceof Error && messages.add(error.message).size > 0 && told.test(error.message),
  );

  assert.deepEqual(
    [...messages].filter((message) => /queryable/.test(message)),
    [],
  );
});

test("a transaction that takes longer than the server allows is one that took too long", () => {
  const error = { code: "25P04", message: "terminating connection due to transaction timeout" };

  assert.equal(postgresqlErrors.tooSlow?.(error), true);
  assert.equal(postgresqlErrors.ofOnePlace?.(error), false);
  assert.equal(postgresqlErrors.retryable(error), true);
});

test("events wait while a table of the sink itself cannot be made, whatever the reason", { skip }, async (context) => {
  if (database === undefined) return;
  await database.query("CREATE SCHEMA IF NOT EXISTS deneb");
  await database.query("DROP TABLE IF EXISTS deneb.positions");
  await database.query("CREATE SEQUENCE deneb.positions");
  const sink = sinkThere();
  context.after(() => sink.stop(never));

  await assert.rejects(sink.persist(batch("waiting"), never), {
    retryable: true,
    message: /deneb\.positions, in which the sink keeps its own state/,
  });
  await database.query("DROP SEQUENCE deneb.positions");
  await sink.persist(batch("waiting"), never);

  assert.equal((await database.query("SELECT 1 FROM waiting.e")).length, 1);
});

test("a limit of the user that an administrator takes back counts at the next try", { skip }, async (context) => {
  if (database === undefined) return;
  const { query } = database;
  await query(`ALTER DATABASE ${database.database} RESET lock_timeout`);
  await query("CREATE SCHEMA slow");
  await query("CREATE TABLE slow.e (recvtime text, entityid text, entitytype text, a text)");
  await query(`CREATE FUNCTION slow.wait() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    PERFORM pg_sleep(0.2); RETURN NEW; END $$`);
  await query("CREATE TRIGGER wait BEFORE INSERT ON slow.e FOR EACH ROW EXECUTE FUNCTION slow.wait()");
  const sink = sinkThere({ rdb_statement_timeout: 0 });
  context.after(() => sink.stop(never));
  await query(`ALTER DATABASE ${database.database} SET statement_timeout = '100ms'`);
  await assert.rejects(sink.persist({ events: batch("slow").events }, never), { code: "STATEMENT_TIMEOUT" });

  await query(`ALTER DATABASE ${database.database} RESET statement_timeout`);
  await sink.persist({ events: batch("slow").events }, never);

  assert.equal((await query("SELECT 1 FROM slow.e")).length, 1);
});

test("a type with a quote has views where the server takes no backslash before it", { skip }, async (context) => {
  if (database === undefined) return;
  const { query } = database;
  await query(`ALTER DATABASE ${database.database} SET backslash_quote = off`);
  await query(`ALTER DATABASE ${database.database} SET standard_conforming_strings = off`);
  const sink = sinkThere({ views: true, data_model: "dm-by-entity-type" });
  context.after(() => sink.stop(never));
  const type = "It's \\";

  await sink.persist({ events: [eventOf({ ...entity("e", { "a'\\": "1" }), type }, "quoted")] }, never);
  await sink.flush();

  const [view] = await query("SELECT relname FROM pg_class WHERE relkind = 'v' AND relname LIKE 'deneb_tidy%'");
  assert.deepEqual(await query(`SELECT entitytype, value_text FROM quoted."${view?.["relname"]}"`), [
    { entitytype: type, value_text: "1" },
  ]);
});
