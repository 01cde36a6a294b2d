import assert from "node:assert/strict";
import { after, test } from "node:test";
import { plain } from "../../../core/sql/index.js";
import { databases } from "../../../plugins/rdb-sink/databases.js";
import { mysqlServer } from "../../support/mysql.js";
import { mysqlPrograms } from "../../support/mysql-programs.js";
import { startOwnMysql } from "../../support/own-mysql.js";
import { recordingLog } from "../../support/recording-log.js";
import { configOf, entity, eventOf, never, onMysql, sinkOf } from "./sinks.js";

// What operators of other applications set for all sessions of a server.
const UNUSUAL = [
  "--autocommit=0",
  "--completion-type=CHAIN",
  "--sql-mode=ANSI,NO_BACKSLASH_ESCAPES",
  "--version=8.0.99",
];

const programs = await mysqlPrograms();
const own = programs === undefined ? undefined : await startOwnMysql(programs, UNUSUAL);
const server =
  own === undefined ? undefined : await mysqlServer({ host: own.host, port: own.port, user: own.user, password: "" });
after(async () => {
  await server?.drop();
  await own?.stop();
});
const skip = server === undefined ? "mariadbd and mariadb-install-db are not installed" : false;

const stored = (service: string, a: string) => ({ events: [eventOf(entity("e", { a }), service)] });

test("a read shows what another connection has stored since the one before", { skip }, async () => {
  if (server === undefined) return;
  const context = { name: "s", log: recordingLog().log, dataDir: "", run: "run", now: () => new Date(0) };
  const { sink } = sinkOf(onMysql(server));
  const { driver } = databases.mysql.open(configOf(onMysql(server)), context);
  const at = { database: "", schema: "" } as const;
  const counted = async () => await driver.read([plain(at, `SELECT count(*) FROM ${server.prefix}seen.e`)], never);
  await sink.persist(stored(`${server.prefix}seen`, "1"), never);

  const first = await counted();
  await sink.persist(stored(`${server.prefix}seen`, "2"), never);
  const second = await counted();

  assert.deepEqual([first, second], [[["1"]], [["2"]]]);
  await driver.close(never);
  await sink.stop(never);
});

test("a text that is longer than the column of somebody else is refused, and not cut", { skip }, async () => {
  if (server === undefined) return;
  const service = `${server.prefix}strict`;
  await server.query(`CREATE DATABASE ${service}`);
  await server.query(`CREATE TABLE ${service}.e (recvTime text, entityId text, entityType text, a varchar(3))`);
  await server.query("COMMIT");
  const { sink } = sinkOf(onMysql(server));

  await assert.rejects(sink.persist(stored(service, "four"), never), { code: "DATA_REFUSED", retryable: false });

  await sink.stop(never);
});

test("a text is stored as it is, whatever it means in a statement", { skip }, async () => {
  if (server === undefined) return;
  const service = `${server.prefix}escapes`;
  const { sink } = sinkOf(onMysql(server));
  const hostile = ["\\", "\\'", "''", "'); DROP TABLE e; --", "?", "\n\r\t\x1a", '"`%_', "\u{1f600}é"];

  await sink.persist({ events: hostile.map((text) => eventOf(entity("e", { a: text }), service)) }, never);

  const rows = await server.query(`SELECT a FROM ${service}.e`);
  await server.query("COMMIT");
  assert.deepEqual(rows.map(({ a }) => String(a)).toSorted(), hostile.toSorted());
  await sink.stop(never);
});

test("a write goes to a new connection when the server of the last one takes none", { skip }, async () => {
  if (server === undefined) return;
  const service = `${server.prefix}moved`;
  const { sink } = sinkOf(onMysql(server));
  // For the sessions that begin now, as those with a primary that is none any more.
  await server.query("SET GLOBAL tx_read_only = 1");
  const refused = sink.persist(stored(service, "1"), never);
  await assert.rejects(refused, { message: /takes no writes now/, retryable: true });
  await server.query("SET GLOBAL tx_read_only = 0");

  await sink.persist(stored(service, "1"), never);

  await sink.stop(never);
});

test("partitions are made, and found again", { skip }, async () => {
  if (server === undefined) return;
  const service = `${server.prefix}parts`;
  const { sink } = sinkOf({ ...onMysql(server), partition: "month" });

  for (const timestamp of [Date.UTC(2026, 0, 5), Date.UTC(2026, 1, 5)])
    await sink.persist(
      {
        events: [
          { headers: { "fiware-service": service, timestamp: String(timestamp) }, body: entity("e", { a: "1" }) },
        ],
      },
      never,
    );
  await sink.stop(never);

  const rows = await server.query(
    `SELECT partition_name AS name FROM information_schema.partitions WHERE table_schema = '${service}' AND table_name = 'e' ORDER BY name`,
  );
  assert.deepEqual(
    rows.map(({ name }) => name).filter((name) => name?.startsWith("p")),
    ["p2026_01_01", "p2026_02_01"],
  );
});

test("a MariaDB that says another version takes both columns of a wide table that MySQL would confuse", {
  skip,
}, async () => {
  if (server === undefined) return;
  const service = `${server.prefix}wide`;
  const { sink } = sinkOf(onMysql(server));
  const wide = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`a${index}`, "1"]));

  await sink.persist({ events: [eventOf(entity("e", { ...wide, ano: "2", año: "3" }), service)] }, never);
  await sink.stop(never);

  assert.deepEqual(await server.query(`SELECT ano, año FROM ${service}.e`), [{ ano: "2", año: "3" }]);
});
