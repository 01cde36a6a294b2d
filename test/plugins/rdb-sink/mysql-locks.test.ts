import assert from "node:assert/strict";
import { after, test } from "node:test";
import { createConnection } from "mysql2/promise";
import { reasonOf } from "../../../core/sdk/index.js";
import { lockWaits, withHolder } from "../../../plugins/rdb-sink/mysql/held-locks.js";
import { mysqlServer } from "../../support/mysql.js";
import { entity, eventOf, never, onMysql, sinkOf } from "./sinks.js";

const server = await mysqlServer();
after(() => server?.drop());

test("a write that waits for rows that somebody has locked is ended by the server, which then says whose transaction is open", {
  skip: server === undefined ? "MySQL is not reachable" : false,
}, async () => {
  if (server === undefined) return;
  const { host, port, user, password, query } = server;
  const service = `${server.prefix}locked`;
  const { sink } = sinkOf({ ...onMysql(server), rdb_statement_timeout: 2000 });
  const persist = (a: string) => sink.persist({ events: [eventOf(entity("e", { a }), service)] }, never);
  await persist("1");
  const blocker = await createConnection({ host, port, user, password });
  await blocker.query("START TRANSACTION");
  await blocker.query(`SELECT * FROM ${service}.e FOR UPDATE`);

  const failure = await persist("2").catch(reasonOf);
  const waiting = await query(
    `SELECT id FROM information_schema.processlist WHERE info LIKE 'INSERT INTO%${service}%'`,
  );
  await blocker.end();
  await persist("3");

  assert.match(
    String(failure),
    /^somebody keeps rows .* locked: .*; process \d+ of user ".*" \(host ".*"\) has a transaction open since 20[-\d]+T[:\d]+Z; end/,
  );
  assert.deepEqual(waiting, []);
  assert.deepEqual(await query(`SELECT a FROM ${service}.e`), [{ a: "1" }, { a: "3" }]);
  await sink.stop(never);
});

test("a write that waits for a table that a session without a transaction has locked says which table, and how a table is locked so", {
  skip: server === undefined ? "MySQL is not reachable" : false,
}, async () => {
  if (server === undefined) return;
  const { host, port, user, password, query } = server;
  const service = `${server.prefix}tables`;
  const { sink } = sinkOf({ ...onMysql(server), rdb_statement_timeout: 2000 });
  const persist = (...names: readonly string[]) =>
    sink.persist({ events: names.map((name) => eventOf(entity(name, { a: "1" }), service)) }, never);
  await persist("e", "f");
  const blocker = await createConnection({ host, port, user, password });
  await blocker.query(`LOCK TABLES ${service}.f WRITE`);

  const failure = await persist("e", "f").catch(reasonOf);
  await blocker.end();
  await persist("e", "f");

  assert.ok(String(failure).includes(`(table "${service}.f")`), String(failure));
  // Other tests on the server may have a transaction open.
  assert.match(
    String(failure),
    /no transaction is open: a session keeps it by LOCK TABLES|has a transaction open since/,
  );
  assert.equal((await query(`SELECT a FROM ${service}.f`)).length, 2);
  await sink.stop(never);
});

test("where nobody has a transaction open, a lock that is held says how a table is locked without one", async () => {
  const error = Object.assign(new Error("Lock wait timeout exceeded"), { code: "ER_LOCK_WAIT_TIMEOUT" });

  const told = await withHolder(error, Promise.resolve([]));

  assert.match(told.message, /^Lock wait timeout exceeded; no transaction is open: a session keeps it by LOCK TABLES/);
});

test("where the right to see transactions of others is missing, a lock that is held says so", async () => {
  const error = Object.assign(new Error("Lock wait timeout exceeded"), { code: "ER_LOCK_WAIT_TIMEOUT" });
  const forbidden = Object.assign(new Error("Access denied"), { code: "ER_SPECIFIC_ACCESS_DENIED_ERROR" });

  const told = await withHolder(error, Promise.reject(forbidden));

  assert.deepEqual(
    [told.code, told.message],
    ["ER_LOCK_WAIT_TIMEOUT", "Lock wait timeout exceeded; with the right PROCESS this would say whose"],
  );
});

test("a wait for a lock ends before the write that waits is abandoned, unless it has no limit", () => {
  const ends = (limitMillis: number) => limitsOfWaits(limitMillis).map(({ name, seconds }) => [name, seconds]);
  const both = (seconds: string) => ["lock_wait_timeout", "innodb_lock_wait_timeout"].map((name) => [name, seconds]);

  assert.deepEqual([60_000, 1500, 200].map(ends), [both("59"), both("1"), both("1")]);
  assert.equal(lockWaits(undefined), "lock_wait_timeout = DEFAULT");
});

test("limits of waits for locks are whole numbers with a sign: MySQL refuses the decimal that LEAST of a variable is there", () => {
  assert.deepEqual(
    limitsOfWaits(60_000).map(({ type }) => type),
    ["SIGNED", "SIGNED"],
  );
});

function limitsOfWaits(limitMillis: number) {
  const each = /(?<name>\w+) = (?:CAST\()?LEAST\(@@GLOBAL\.\1, (?<seconds>\d+) .*?\*\/\)(?: AS (?<type>\w+)\))?/gs;
  return [...lockWaits(limitMillis).matchAll(each)].map(({ groups = {} }) => groups);
}
