import assert from "node:assert/strict";
import { after, test } from "node:test";
import pg from "pg";
import { postgresqlErrors } from "../../../plugins/rdb-sink/postgresql/errors.js";
import { at } from "../../support/position.js";
import { postgresqlDatabase } from "../../support/postgresql.js";
import { entity, eventOf, never, sinkOf } from "./sinks.js";

const database = await postgresqlDatabase();
after(() => database?.drop());
const skip = database === undefined ? "PostgreSQL is not reachable" : false;

const batch = (service: string) => ({ events: [eventOf(entity("e", { a: "1" }), service)], position: at("c:1") });

function sinkThere() {
  if (database === undefined) throw new Error("PostgreSQL is not reachable");
  const { host, port, user, password } = database;
  return sinkOf({
    rdb_host: host,
    rdb_port: port,
    rdb_username: user,
    rdb_password: password,
    rdb_database: database.database,
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
  const locker = new pg.Client({ host, port, user, password, database: database.database });
  await locker.connect();
  await locker.query("BEGIN; LOCK TABLE locked.e IN ACCESS EXCLUSIVE MODE");

  const failure = await sink.persist({ events: batch("locked").events }, never).catch((error: unknown) => error);
  const answer = await sink.answers(failure, never);
  await locker.end();

  assert.match(String(failure), /somebody keeps a table of .* locked: .*; end that transaction, or raise lock_timeout/);
  assert.equal(answer, false);
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
