import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { after, test } from "node:test";
import { createConnection } from "mysql2/promise";
import { codeOf } from "../../../core/sdk/index.js";
import type { RdbConfig } from "../../../plugins/rdb-sink/config.js";
import { mysqlServer } from "../../support/mysql.js";
import { postgresqlDatabase } from "../../support/postgresql.js";
import { tempFolder } from "../../support/temp-folder.js";
import { until } from "../../support/until.js";
import { entity, eventOf, never, onMysql, onPostgresql, sinkOf } from "./sinks.js";

const server = await mysqlServer();
const database = await postgresqlDatabase();
after(async () => {
  await server?.drop();
  await database?.drop();
});

interface Refusing {
  readonly config: Partial<RdbConfig>;
  /** Stands before each service. */
  readonly prefix: string;
  /** The number of rows of a service; undefined where it is not asked. */
  rows?(service: string): Promise<unknown>;
}

/** Where the rows of one service are refused, those of others are not, and nothing of the question is left. */
async function toldApart({ config, prefix, rows }: Refusing, breakPlace: (service: string) => Promise<unknown>) {
  // Sinks of one name share a list of tables, also those of other tests on a server.
  const { sink } = sinkOf(config, undefined, undefined, { name: `${prefix}told` });
  const [good, bad] = [`${prefix}good`, `${prefix}bad`];
  const persist = (service: string) => sink.persist({ events: [eventOf(entity("e", { a: "1" }), service)] }, never);
  const failed = () => persist(bad).catch((error: unknown) => error);
  try {
    await breakPlace(bad);
    const alone = await sink.answers(await failed(), never);
    await persist(good);
    const beside = await sink.answers(await failed(), never);

    assert.deepEqual([alone, beside], [false, "passing"]);
    if (rows !== undefined) assert.equal(Number(await rows(good)), 1);
  } finally {
    await sink.stop(never);
  }
}

/** Those but the first have codes that the server itself gives to what affects all tables. */
const raised = [
  { what: "without the right to it", state: "42501" },
  { what: "whose trigger raises a serialization failure", state: "40001" },
  { what: "whose trigger raises a shutdown", state: "57P01" },
  { what: "whose trigger raises a full disk", state: "53100" },
  { what: "whose trigger raises a time limit", state: "57014" },
];

for (const { what, state } of raised)
  test(`PostgreSQL: a table ${what} is distinguished from a server that is away`, {
    skip: database === undefined,
  }, async () => {
    if (database === undefined) return;
    const { query } = database;
    const config = onPostgresql(database, database.database);
    const rows = async (service: string) => (await query(`SELECT count(*) AS n FROM ${service}.e`))[0]?.["n"];
    await toldApart({ config, prefix: `of${state.toLowerCase()}`, rows }, async (service) => {
      await query(`CREATE SCHEMA ${service}`);
      await query(`CREATE TABLE ${service}.e (recvtime text, entityid text, entitytype text, a text)`);
      await query(`CREATE FUNCTION ${service}.f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        RAISE EXCEPTION 'permission denied' USING errcode = '${state}'; END $$`);
      await query(`CREATE TRIGGER t BEFORE INSERT ON ${service}.e FOR EACH ROW EXECUTE FUNCTION ${service}.f()`);
    });
  });

const triggers = [
  { what: "names a dropped table", text: (service: string) => `INSERT INTO ${service}.gone VALUES (1)` },
  { what: "raises a deadlock", text: () => "SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 1213" },
  { what: "raises a deadlock with its state", text: () => "SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = 1213" },
  { what: "always takes too long", text: () => "SET @slept = SLEEP(10)" },
  { what: "raises a lock that is held", text: () => "SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 1205" },
];

for (const [at, { what, text }] of triggers.entries())
  test(`MySQL: a trigger that ${what} is distinguished from a server that is away`, {
    skip: server === undefined,
  }, async () => {
    if (server === undefined) return;
    const { query } = server;
    const config = { ...onMysql(server), rdb_statement_timeout: 1500 };
    const rows = async (service: string) => (await query(`SELECT count(*) AS n FROM ${service}.e`))[0]?.["n"];
    await toldApart({ config, prefix: `${server.prefix}${at}`, rows }, async (service) => {
      await query(`CREATE DATABASE ${service}`);
      await query(`CREATE TABLE ${service}.e (recvTime text, entityId text, entityType text, a text)`);
      await query(`CREATE TRIGGER ${service}.t BEFORE INSERT ON ${service}.e FOR EACH ROW ${text(service)}`);
    });
  });

test("MariaDB: a trigger that always reaches max_statement_time is distinguished from a server that is away", {
  skip: server === undefined,
}, async (context) => {
  if (server === undefined) return;
  const { query, prefix, host, port } = server;
  const [{ version } = {}] = await query("SELECT VERSION() AS version");
  if (!/mariadb/i.test(version ?? "")) return context.skip("needs MariaDB");
  const user = `${prefix}limited`.slice(-30);
  await query(`CREATE USER '${user}'@'%' IDENTIFIED BY 'right' WITH MAX_STATEMENT_TIME 1.5`);
  await query(`GRANT ALL PRIVILEGES ON *.* TO '${user}'@'%'`);
  context.after(() => query(`DROP USER '${user}'@'%'`));
  const config = onMysql({ host, port, user, password: "right" });

  await toldApart({ config, prefix: `${prefix}limit` }, async (service) => {
    await query(`CREATE DATABASE ${service}`);
    await query(`CREATE TABLE ${service}.e (recvTime text, entityId text, entityType text, a text)`);
    await query(`CREATE TRIGGER ${service}.t BEFORE INSERT ON ${service}.e FOR EACH ROW SET @slept = SLEEP(10)`);
  });
});

test("MySQL: a deadlock of the server is waited for, also while others take rows", {
  skip: server === undefined,
}, async () => {
  if (server === undefined) return;
  const { query, host, port, user, password } = server;
  const { sink } = sinkOf({ ...onMysql(server), last_data_mode: "upsert" });
  const [first, second, free] = ["a", "b", "c"].map((name) => `${server.prefix}dead${name}`);
  const batch = (...services: readonly (string | undefined)[]) => ({
    events: services.map((service = "") => eventOf(entity("e", { a: "1" }), service)),
  });
  await sink.persist(batch(first, second, free), never);
  const other = await createConnection({ host, port, user, password });
  await other.query("START TRANSACTION");
  // The server ends the transaction that has changed less.
  for (let n = 0; n < 50; n += 1) await other.query(`INSERT INTO ${free}.e_last_data (entityId) VALUES ('${n}')`);
  await other.query(`SELECT * FROM ${second}.e_last_data FOR UPDATE`);

  const written = sink.persist(batch(first, second), never).catch((error: unknown) => error);
  await until(
    () =>
      query(
        `SELECT 1 FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT' AND trx_query LIKE '%${second}%'`,
      ),
    ({ length }) => length > 0,
  );
  await other.query(`SELECT * FROM ${first}.e_last_data FOR UPDATE`);
  const failure = await written;
  await other.end();
  const answer = await sink.answers(failure, never);
  await sink.stop(never);

  assert.match(String(failure), /deadlock/i);
  assert.equal(answer, false);
});

test("MySQL: a table that somebody has locked is waited for, also while others take rows", {
  skip: server === undefined,
}, async () => {
  if (server === undefined) return;
  const { host, port, user, password, prefix } = server;
  const locked = `${prefix}held`;
  const persist = (service: string) => sink.persist({ events: [eventOf(entity("e", { a: "1" }), service)] }, never);
  const { sink } = sinkOf({ ...onMysql(server), rdb_statement_timeout: 300 });
  const other = await createConnection({ host, port, user, password });
  for (const service of [locked, `${prefix}free`]) await persist(service);
  await other.query(`LOCK TABLES ${locked}.e WRITE`);

  const failure = await persist(locked).catch((error: unknown) => error);
  await other.end();
  const answer = await sink.answers(failure, never);
  await sink.stop(never);

  assert.deepEqual([codeOf(failure), answer], ["STATEMENT_TIMEOUT", false]);
});

test("PostgreSQL: an error that a trigger raises says so, with its code", {
  skip: database === undefined,
}, async () => {
  if (database === undefined) return;
  const { query } = database;
  const { sink } = sinkOf(onPostgresql(database, database.database));
  await query("CREATE SCHEMA says");
  await query("CREATE TABLE says.e (recvtime text, entityid text, entitytype text, a text)");
  await query(`CREATE FUNCTION says.f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    RAISE EXCEPTION 'not today' USING errcode = '40001'; END $$`);
  await query("CREATE TRIGGER t BEFORE INSERT ON says.e FOR EACH ROW EXECUTE FUNCTION says.f()");

  const written = sink.persist({ events: [eventOf(entity("e", { a: "1" }), "says")] }, never);

  await assert.rejects(written, {
    message: /^a trigger, .* of database .* raised 40001: not today; the table is "says\.e"$/,
    retryable: true,
  });
  await sink.stop(never);
});

const unusable = [
  { what: "a damaged file", make: (file: string) => writeFile(file, "no database ".repeat(1000)) },
  { what: "a folder in the place of a file", make: (file: string) => mkdir(file) },
];

for (const { what, make } of unusable)
  test(`SQLite: ${what} of one service is distinguished from a folder that cannot be used`, async (context) => {
    const folder = await tempFolder(context);
    await toldApart({ config: { rdb_dialect: "sqlite", rdb_folder: folder }, prefix: "" }, (service) =>
      make(path.join(folder, `${service}.db`)),
    );
  });
