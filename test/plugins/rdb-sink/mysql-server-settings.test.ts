import assert from "node:assert/strict";
import { after, test } from "node:test";
import { databases } from "../../../plugins/rdb-sink/databases.js";
import { mysqlServer } from "../../support/mysql.js";
import { mysqlPrograms } from "../../support/mysql-programs.js";
import { startOwnMysql } from "../../support/own-mysql.js";
import { at } from "../../support/position.js";
import { recordingLog } from "../../support/recording-log.js";
import { configOf, entity, eventOf, never, onMysql, sinkOf } from "./sinks.js";

// What servers of old applications have; init_connect does not run for users that may do everything.
const SETTINGS = ["--init-connect=SET NAMES latin1", "--default-storage-engine=MyISAM", "--max-allowed-packet=1M"];
const USER = { user: "app", password: "secret" } as const;

const programs = await mysqlPrograms();
const own = programs === undefined ? undefined : await startOwnMysql(programs, SETTINGS);
const server =
  own === undefined ? undefined : await mysqlServer({ host: own.host, port: own.port, user: own.user, password: "" });
await server?.query("CREATE USER app@'%' IDENTIFIED BY 'secret'");
await server?.query(
  "GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, ALTER, DROP, INDEX, REFERENCES, TRIGGER, CREATE VIEW ON *.* TO app@'%'",
);
after(async () => {
  await server?.drop();
  await own?.stop();
});
const skip = server === undefined ? "mariadbd and mariadb-install-db are not installed" : false;

const stored = (service: string, ...texts: readonly string[]) => ({
  events: texts.map((text, index) => eventOf(entity(`e${index}`, { a: text }), service)),
});

// The low bytes of the first two are a quote and a backslash.
const HOSTILE = ["\u0127, 'x'); DROP TABLE t; -- ", "\u015c', '\u015c", "\u{1f600}\u20ac\u00e9", "\u7e17'", "\u8868\\"];

test("a text is stored as it is, whatever character set the server begins its sessions with", { skip }, async () => {
  if (server === undefined) return;
  const service = `${server.prefix}texts`;
  const config = { ...onMysql({ ...server, ...USER }), data_model: "dm-by-entity-type" } as const;
  const { sink } = sinkOf(config);

  await sink.persist(stored(service, ...HOSTILE), never);
  await sink.stop(never);

  const rows = await server.query(`SELECT HEX(a) AS a FROM ${service}.T ORDER BY entityId`);
  assert.deepEqual(
    rows.map(({ a }) => Buffer.from(a ?? "", "hex").toString()),
    HOSTILE,
  );
  const context = { name: "s", log: recordingLog().log, dataDir: "", run: "run", now: () => new Date(0) };
  const text = `SELECT a FROM ${service}.T ORDER BY entityId`;
  const queried = await databases.mysql.query(configOf(config), text, context);
  assert.deepEqual(
    queried.rows,
    HOSTILE.map((one) => [one]),
  );
});

test("tables have transactions, whatever engine the server gives to new ones", { skip }, async () => {
  if (server === undefined) return;
  const service = `${server.prefix}engine`;
  const { sink } = sinkOf(onMysql({ ...server, ...USER }));

  await sink.persist({ ...stored(service, "1"), position: at(`${service}:1`) }, never);
  await sink.stop(never);

  const engines = await server.query(
    `SELECT DISTINCT engine FROM information_schema.tables WHERE table_schema IN ('${service}', 'deneb')`,
  );
  assert.deepEqual(engines, [{ engine: "InnoDB" }]);
});

test("a row that is larger than the server takes is refused at once and says so, and smaller ones are stored", {
  skip,
}, async () => {
  if (server === undefined) return;
  const service = `${server.prefix}large`;
  const { sink } = sinkOf({ ...onMysql({ ...server, ...USER }), data_model: "dm-by-entity-type" });
  const refused = { code: "DATA_REFUSED", retryable: false, message: /raise max_allowed_packet/ };

  // The server closes the connection while it is still sent.
  await assert.rejects(sink.persist(stored(service, "x".repeat(9_000_000)), never), refused);
  await assert.rejects(sink.persist(stored(service, "\u20ac".repeat(400_000)), never), refused);
  const texts = ["x".repeat(1_000_000), ...Array.from({ length: 200 }, () => "\u20ac".repeat(9000))];
  await sink.persist(stored(service, ...texts), never);
  await sink.stop(never);

  assert.deepEqual(await server.query(`SELECT count(*) AS n, max(length(a)) AS most FROM ${service}.T`), [
    { n: "201", most: "1000000" },
  ]);
});

test("a value is not cut, and an empty one is no NULL, in a mode of the server in which an empty text is", {
  skip,
}, async () => {
  if (server === undefined) return;
  const service = `${server.prefix}empty`;
  await server.query(`CREATE DATABASE ${service}`);
  await server.query(
    `CREATE TABLE ${service}.e0 (recvTime text, entityId text, entityType text, a varchar(3)) ENGINE = InnoDB`,
  );
  await server.query("SET GLOBAL sql_mode = 'EMPTY_STRING_IS_NULL'");
  const { sink } = sinkOf(onMysql({ ...server, ...USER }));

  const cut = sink.persist(stored(service, "four"), never);
  await assert.rejects(cut, { code: "DATA_REFUSED", message: /Data too long/ });
  await sink.persist(stored(service, ""), never);
  await sink.stop(never);
  await server.query("SET GLOBAL sql_mode = DEFAULT");

  assert.deepEqual(await server.query(`SELECT a FROM ${service}.e0`), [{ a: "" }]);
});

test("a limit of the server that an administrator takes back counts at the next try", { skip }, async () => {
  if (server === undefined) return;
  const service = `${server.prefix}limits`;
  const { sink } = sinkOf(onMysql({ ...server, ...USER }));
  await server.query(`CREATE DATABASE ${service}`);
  await server.query(
    `CREATE TABLE ${service}.e0 (recvTime text, entityId text, entityType text, a text) ENGINE = InnoDB`,
  );
  await server.query(`CREATE TRIGGER ${service}.t BEFORE INSERT ON ${service}.e0 FOR EACH ROW DO SLEEP(0.2)`);
  await server.query("SET GLOBAL max_statement_time = 0.1");
  await assert.rejects(sink.persist(stored(service, "1"), never), { code: "STATEMENT_TIMEOUT" });

  await server.query("SET GLOBAL max_statement_time = 0");
  await sink.persist(stored(service, "1"), never);
  await sink.stop(never);

  assert.equal((await server.query(`SELECT 1 FROM ${service}.e0`)).length, 1);
});

test("all rows are read and old ones deleted, whatever limits the server sets on the statements of people", {
  skip,
}, async () => {
  if (server === undefined) return;
  const service = `${server.prefix}careful`;
  const config = configOf({ ...onMysql({ ...server, ...USER }), data_model: "dm-by-entity-type" });
  const context = { name: "s", log: recordingLog().log, dataDir: "", run: "run", now: () => new Date(0) };
  await server.query("SET GLOBAL sql_select_limit = 1");
  await server.query("SET GLOBAL init_connect = 'SET max_join_size = 50, sql_big_selects = 0, sql_safe_updates = 1'");
  const { dialect, driver } = databases.mysql.open(config, context);
  const { sink } = sinkOf(config);
  const name = { database: service, schema: service, table: "T" };
  const rows = dialect.readMatching([{ name: "a", kind: "text" }], { name, conditions: [] });

  await sink.persist(stored(service, "1", "2"), never);
  const read = await driver.read([rows], never);
  const many = await driver.read([{ at: name, text: `SELECT seq FROM ${service}.seq_1_to_60`, runs: [[]] }], never);
  const paged: unknown[] = [];
  for await (const page of driver.pages?.(rows, 10, never) ?? []) paged.push(...page);
  await driver.write([{ at: name, text: `DELETE FROM ${service}.T`, runs: [[]] }], never);
  const left = await driver.read([rows], never);

  await Promise.all([sink.stop(never), driver.close(never)]);
  await server.query("SET GLOBAL sql_select_limit = DEFAULT");
  await server.query("SET GLOBAL init_connect = 'SET NAMES latin1'");
  assert.deepEqual([read.length, many.length, paged.length, left.length], [2, 60, 2, 0]);
});
