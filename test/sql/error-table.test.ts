import assert from "node:assert/strict";
import { test } from "node:test";
import pg from "pg";
import { type Event, retryableOf } from "../../core/sdk/index.js";
import { ErrorTableWriter } from "../../core/sql/features/error-table-writer.js";
import type { RdbConfig } from "../../plugins/rdb-sink/config.js";
import type { Place, StoredRow } from "../plugins/rdb-sink/databases.js";
import { onEveryDatabase } from "../plugins/rdb-sink/on-every-database.js";
import { entity, eventOf, type LoggingSink, never, onPostgresql, sinkOf } from "../plugins/rdb-sink/sinks.js";
import { postgresqlDatabase } from "../support/postgresql.js";
import { recordingLog } from "../support/recording-log.js";
import { until } from "../support/until.js";

const told: Partial<RdbConfig> = { persist_errors: true, max_latest_errors: 2 };
const PICKY = "CREATE TABLE @ (recvtime text, entityid text, entitytype text, a text, CHECK (a <> 'bad'))";

await onEveryDatabase("table of errors", [
  {
    name: "a permanently refused event is in the error table with its error, its SQL and its values, in order of time",
    service: "told",
    run: async (place, service) => {
      const made = await place.sink(told, () => new Date("2020-05-13T14:46:21.918Z"));
      await picky(place, made, service);

      await refuse(made, eventOf(entity("urn:e:1", { a: "bad" }), service));
      await refuse(made, eventOf(entity("urn:e:1", { a: "bad", b: "it's" }), service));
      await made.sink.stop(never);

      const [first, second] = await errorsIn(place, service);
      assert.match(first?.["error"] ?? "", /constraint/i);
      assert.match(first?.["query"] ?? "", /^INSERT INTO .*urn_e_1.* \["2020-.*","urn:e:1","T","bad"\]$/s);
      assert.match(first?.["timestamp"] ?? "", /^2020-05-13[T ]14:46:21\.918/);
      assert.match(second?.["query"] ?? "", /"it's"/);
      assert.notEqual(first?.["timestamp"], second?.["timestamp"]);
    },
  },
  {
    name: "an event without a row is in the error table too, without SQL",
    service: "unstorable",
    run: async (place, service) => {
      const made = await place.sink(told);

      await refuse(made, eventOf(entity("urn:e:1", { a: "x\0y" }), service));
      await made.sink.stop(never);

      const [row] = await errorsIn(place, service);
      assert.match(row?.["error"] ?? "", /^VALUE_NOT_STORABLE: /);
      assert.equal(row?.["query"], "");
    },
  },
  {
    name: "only the latest rows stay",
    service: "latest",
    run: async (place, service) => {
      const made = await place.sink(told);
      await picky(place, made, service);

      for (const number of [1, 2, 3, 4]) {
        await refuse(made, eventOf(entity("urn:e:1", { a: "bad", b: `number ${number}` }), service));
      }
      await made.sink.stop(never);

      const rows = await errorsIn(place, service);
      assert.deepEqual(
        rows.map(({ query }) => /number \d/.exec(query ?? "")?.[0]),
        ["number 3", "number 4"],
      );
    },
  },
  {
    name: "a refused event of a batch is in the error table once: when the sink names it, or where it does not, when it is alone",
    service: "among",
    run: async (place, service) => {
      const made = await place.sink(told);
      await picky(place, made, service);
      const bad = eventOf(entity("urn:e:1", { a: "bad" }), service);

      const failure = await refuse(made, bad, eventOf(entity("urn:e:2", { a: "1" }), service));
      if (!("events" in failure) || failure.events === undefined) await refuse(made, bad);
      await made.sink.stop(never);

      const rows = await errorsIn(place, service);
      assert.equal(rows.length, 1);
      assert.match(rows[0]?.["query"] ?? "", /urn_e_1/);
    },
  },
  {
    name: "stored data are not in the error table; nor is anything without persist_errors",
    service: "untold",
    run: async (place, service) => {
      const made = await place.sink(told);
      await picky(place, made, service);
      const bad = eventOf(entity("urn:e:1", { a: "bad" }), service);
      await made.sink.stop(never);
      const without = await place.sink();
      await refuse(without, bad);
      await without.sink.stop(never);

      await assert.rejects(errorsIn(place, service));
    },
  },
  {
    name: "another table with the name of the error table is logged, events are stored as before, and errors of other schemas told",
    service: "unable",
    run: async (place, service) => {
      const made = await place.sink(told);
      await picky(place, made, service);
      await place.alter(service, tableOf(place, service), "CREATE TABLE @ (other int)");

      await refuse(made, eventOf(entity("urn:e:1", { a: "bad" }), service));
      await made.sink.persist({ events: [eventOf(entity("urn:e:2", { a: "1" }), service)] }, never);
      await refuse(made, eventOf(entity("urn:e:1", { a: "x\0y" }), `${service}2`));
      await made.sink.stop(never);

      const lines = made.lines.filter(({ message }) => message.startsWith("the error table"));
      assert.deepEqual(
        lines.map(({ message }) => message),
        ["the error table of a schema is not written"],
      );
      assert.equal((await errorsIn(place, `${service}2`)).length, 1);
      assert.equal((await place.rows(service, "urn_e_2")).length, 1);
    },
  },
  {
    name: "a row that the error table refuses, as one whose key is the time in whole seconds does, does not keep the next one away",
    service: "seconds",
    run: async (place, service) => {
      const made = await place.sink({ ...told, max_latest_errors: 10 });
      await picky(place, made, service);
      const columns = "timestamp varchar(40), error text, query text, CHECK (query NOT LIKE '%odd%')";
      await place.alter(service, tableOf(place, service), `CREATE TABLE @ (${columns})`);

      for (const b of ["one", "odd 1", "odd 2", "two"]) {
        await refuse(made, eventOf(entity("urn:e:1", { a: "bad", b }), service));
      }
      await made.sink.stop(never);

      const rows = await errorsIn(place, service);
      assert.deepEqual(
        rows.map(({ query }) => /"(one|odd|two)/.exec(query ?? "")?.[1]),
        ["one", "two"],
      );
      const lines = made.lines.filter(({ message }) => message === "an error is not in the error table");
      assert.equal(lines.length, 1);
    },
  },
  {
    name: "a dropped error table is created again",
    service: "again",
    run: async (place, service) => {
      const made = await place.sink(told);
      await picky(place, made, service);
      const bad = eventOf(entity("urn:e:1", { a: "bad" }), service);
      await refuse(made, bad);
      await until(
        () => errorsIn(place, service).catch(() => []),
        (found) => found.length === 1,
      );
      await place.alter(service, tableOf(place, service), "DROP TABLE @");

      await refuse(made, bad);
      await made.sink.stop(never);

      assert.equal((await errorsIn(place, service)).length, 1);
    },
  },
]);

test("a locked error table delays no write", async (context) => {
  const database = await postgresqlDatabase();
  if (database === undefined) return context.skip("PostgreSQL is not reachable");
  context.after(() => database.drop());
  const { host, port, user, password, database: name } = database;
  const made = sinkOf({ ...told, ...onPostgresql(database, name) });
  await refuse(made, eventOf(entity("urn:k:1", { a: "\0" }), "kept"));
  await until(
    () => database.query(`SELECT 1 FROM pg_class WHERE relname = '${name}_error_log'`),
    (found) => found.length === 1,
  );
  const locker = new pg.Client({ host, port, user, password, database: name });
  await locker.connect();
  await locker.query(`BEGIN; LOCK TABLE kept."${name}_error_log"`);

  await refuse(made, eventOf(entity("urn:k:2", { a: "\0" }), "kept"));
  await made.sink.persist({ events: [eventOf(entity("urn:k:3", { a: "1" }), "kept")] }, never);

  assert.equal((await database.query("SELECT 1 FROM kept.urn_k_3")).length, 1);
  await made.sink.stop(AbortSignal.abort());
  await locker.end();
});

test("an error table of the predecessor is continued", async (context) => {
  const database = await postgresqlDatabase();
  if (database === undefined) return context.skip("PostgreSQL is not reachable");
  context.after(() => database.drop());
  const table = `old."${database.database}_error_log"`;
  await database.query("CREATE SCHEMA old");
  await database.query(
    `CREATE TABLE ${table} (timestamp TIMESTAMP NOT NULL, error text, query text, CONSTRAINT pk_errorlog PRIMARY KEY (timestamp))`,
  );
  const made = sinkOf({ ...told, ...onPostgresql(database, database.database) });

  await refuse(made, eventOf(entity("urn:o:1", { a: "\0" }), "old"));
  await refuse(made, eventOf(entity("urn:o:2", { a: "\0" }), "old"));
  await made.sink.stop(never);

  const rows = await database.query(`SELECT timestamp FROM ${table} ORDER BY timestamp`);
  assert.deepEqual(rows, [{ timestamp: "1970-01-01 00:00:00" }, { timestamp: "1970-01-01 00:00:00.000001" }]);
});

test("refused writes are dropped while many wait, and for a minute after a failure", async () => {
  const { log, lines } = recordingLog();
  let now = 0;
  const added: string[] = [];
  let work: () => Promise<void> = async () => {};
  const add = async ({ error }: { readonly error: unknown }) => {
    added.push(String(error));
    await work();
  };
  const errors = new ErrorTableWriter({ add }, { log, now: () => new Date(now) });
  const report = (error: string) =>
    errors.add({ of: () => ({ database: "", schema: "s" }), error, statements: () => [] });
  const idle = () => new Promise<void>((resolve) => setImmediate(resolve));

  work = () => Promise.reject(new Error("no room"));
  report("1");
  await idle();
  now = 59_000;
  report("2");
  now = 61_000;
  work = async () => {};
  for (let number = 3; number < 203; number += 1) report(String(number));
  await errors.stop(never);

  assert.deepEqual(
    lines.map(({ level, message }) => [level, message]),
    [
      ["warn", "the error table is not written, paused for a minute"],
      ["info", "the error table is written again"],
    ],
  );
  assert.deepEqual(added.slice(0, 2), ["1", "3"]);
  assert.ok(added.length <= 103);
});

/** Makes the schema, and a table that refuses "bad". */
async function picky(place: Place, { sink }: LoggingSink, service: string): Promise<void> {
  await sink.persist({ events: [eventOf(entity("urn:e:0", { a: "1" }), service)] }, never);
  await place.alter(service, "urn_e_1", PICKY);
}

async function refuse({ sink }: LoggingSink, ...events: readonly Event[]): Promise<Error> {
  const failure = await sink.persist({ events }, never).then(
    () => undefined,
    (error: unknown) => error,
  );
  assert.ok(failure instanceof Error);
  assert.equal(retryableOf(failure), false);
  return failure;
}

async function errorsIn(place: Place, service: string): Promise<readonly StoredRow[]> {
  const quote = place.limit.unit === "characters" ? "`" : '"';
  const order = `${quote}timestamp${quote}`;
  return await place.select(service, tableOf(place, service), `SELECT * FROM @ ORDER BY ${order}`);
}

/** PostgreSQL names it after the database, the others after the schema. */
function tableOf(place: Place, service: string): string {
  return `${place.database ?? service}_error_log`;
}
