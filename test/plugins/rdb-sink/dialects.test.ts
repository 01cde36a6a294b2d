import assert from "node:assert/strict";
import { test } from "node:test";
import { mysql } from "../../../plugins/rdb-sink/mysql/dialect.js";
import { postgresql } from "../../../plugins/rdb-sink/postgresql/dialect.js";
import { sqlite } from "../../../plugins/rdb-sink/sqlite/dialect.js";

const name = { database: "", schema: 's"1', table: 't"1' };
const textColumns = (...names: readonly string[]) => names.map((column) => ({ name: column, kind: "text" }) as const);
const rows = (count: number) => Array.from({ length: count }, (_, index) => [String(index), undefined]);
const table = (count: number) => ({ name, columns: textColumns("a", 'b"c'), rows: rows(count) });

test("PostgreSQL: names are quoted", () => {
  assert.deepEqual(
    [
      ...postgresql.createSchema(name),
      ...postgresql.createTable({ name, columns: textColumns('b"c'), key: ['b"c'] }),
      ...postgresql.addColumns(name, textColumns("a", "b")),
    ].map(({ text }) => text),
    [
      'CREATE SCHEMA IF NOT EXISTS "s""1"',
      'CREATE TABLE IF NOT EXISTS "s""1"."t""1" ("b""c" pg_catalog.text, PRIMARY KEY ("b""c"))',
      'ALTER TABLE "s""1"."t""1" ADD COLUMN "a" pg_catalog.text, ADD COLUMN "b" pg_catalog.text',
    ],
  );
});

test("SQLite: names are quoted, the schema is the file", () => {
  assert.deepEqual(
    [
      ...sqlite.createSchema(),
      ...sqlite.createTable({ name, columns: textColumns('b"c'), key: [] }),
      ...sqlite.addColumns(name, textColumns("a", "b")),
    ].map(({ text }) => text),
    [
      'CREATE TABLE IF NOT EXISTS "t""1" ("b""c" text)',
      'ALTER TABLE "t""1" ADD COLUMN "a" text',
      'ALTER TABLE "t""1" ADD COLUMN "b" text',
    ],
  );
});

test("a column of JSON stores a text that may be JSON as that JSON, if it is an object or a list", () => {
  for (const dialect of [postgresql, mysql, sqlite]) {
    const cell = (text: string) => dialect.cell("json", { kind: "text", text, plain: text, mayBeJson: true });

    assert.deepEqual(['[{"name":"u"}]', ' {"a":1}', "5", "[no"].map(cell), [
      '[{"name":"u"}]',
      ' {"a":1}',
      '"5"',
      '"[no"',
    ]);
  }
});

test("MySQL: names are quoted, a key is short and exact", () => {
  const ticked = { database: "", schema: "s`1", table: "t`1" };

  assert.deepEqual(
    [
      ...mysql.createSchema(ticked),
      ...mysql.createTable({ name: ticked, columns: textColumns("k`", "a"), key: ["k`"] }),
      ...mysql.addColumns(ticked, [{ name: "j", kind: "json" }]),
      ...mysql.widenColumns(ticked, ["a"]),
    ].map(({ text }) => text),
    [
      "CREATE DATABASE IF NOT EXISTS `s``1` CHARACTER SET utf8mb4",
      "CREATE TABLE IF NOT EXISTS `s``1`.`t``1` (`k``` varchar(768) COLLATE utf8mb4_bin, `a` text, PRIMARY KEY (`k```)) CHARACTER SET utf8mb4",
      "ALTER TABLE `s``1`.`t``1` ADD COLUMN `j` json COMMENT 'json'",
      "ALTER TABLE `s``1`.`t``1` MODIFY COLUMN `a` longtext CHARACTER SET utf8mb4",
    ],
  );
});

const cut = [
  { name: "by number", lengths: Array.from({ length: 250 }, () => 1), sizes: [100, 50], runs: [2, 1] },
  { name: "by length", lengths: [200_000, 200_000, 10, 2_000_000], sizes: [1, 2, 1], runs: [1, 1, 1] },
] as const;

for (const { name: how, lengths, sizes, runs } of cut)
  test(`MySQL: rows are cut into statements ${how}`, () => {
    const long = lengths.map((length) => ["x".repeat(length), undefined]);

    const statements = mysql.insert({ name, columns: textColumns("a", "b"), rows: long });

    assert.deepEqual(
      statements.map(({ text }) => text.match(/\(\?, \?\)/g)?.length),
      sizes,
    );
    assert.deepEqual(
      statements.map((statement) => statement.runs.length),
      runs,
    );
    assert.deepEqual(
      statements.flatMap((statement) => statement.runs.flat()),
      long.flat(),
    );
  });

test("PostgreSQL: rows go by one COPY, or by a statement that runs once for each row", () => {
  assert.deepEqual(postgresql.insert(table(2)), [
    {
      at: name,
      text: 'INSERT INTO "s""1"."t""1" ("a", "b""c") VALUES ($1, $2)',
      runs: rows(2),
      copy: 'COPY "s""1"."t""1" ("a", "b""c") FROM STDIN',
    },
  ]);
  assert.deepEqual(postgresql.insert(table(0)), []);
  const [withTime] = postgresql.insert({ ...table(2), rows: [["2026-07-01 11:01:00.000", "x"]] });
  assert.equal(
    withTime?.copy,
    `COPY "s""1"."t""1" ("a", "b""c") FROM STDIN WHERE true OR "a" OPERATOR(pg_catalog.~) ''`,
  );
});

test("SQLite: one statement runs once for each row", () => {
  assert.deepEqual(sqlite.insert(table(2)), [
    { at: name, text: 'INSERT INTO "t""1" ("a", "b""c") VALUES (?, ?)', runs: rows(2) },
  ]);
});

const cells = [
  { kind: "number", value: "9007199254740993", kept: { postgresql: true, mysql: false, sqlite: true } },
  { kind: "number", value: "0.12345678901234567890", kept: { postgresql: true, mysql: false, sqlite: false } },
  { kind: "number", value: "1e400", kept: { postgresql: true, mysql: false, sqlite: false } },
  { kind: "number", value: "23.50", kept: { postgresql: true, mysql: true, sqlite: true } },
  { kind: "number", value: "NaN", kept: { postgresql: false, mysql: false, sqlite: false } },
  { kind: "integer", value: "9223372036854775808", kept: { postgresql: false, mysql: false, sqlite: false } },
  { kind: "integer", value: "2.5", kept: { postgresql: false, mysql: false, sqlite: false } },
  { kind: "boolean", value: "yes", kept: { postgresql: false, mysql: false, sqlite: false } },
  { kind: "time", value: "2020-05-13T10:00:00.1234567Z", kept: { postgresql: false, mysql: false, sqlite: false } },
  { kind: "time", value: "2020-13-45", kept: { postgresql: false, mysql: false, sqlite: false } },
  { kind: "time", value: "2020-05-13T10:00:00+02:00", kept: { postgresql: true, mysql: true, sqlite: true } },
] as const;

for (const { kind, value, kept } of cells)
  for (const dialect of [postgresql, mysql, sqlite])
    test(`${dialect.database} ${kept[dialect.database] ? "keeps" : "does not keep"} ${value} in a column of ${kind}`, () => {
      const cell = dialect.cell(kind, { kind, text: value, plain: value });

      assert.equal(cell !== undefined, kept[dialect.database]);
    });

const texts = [
  { value: "12", kept: { postgresql: true, mysql: true, sqlite: true } },
  { value: "-23.5", kept: { postgresql: true, mysql: true, sqlite: true } },
  { value: "23.50", kept: { postgresql: true, mysql: false, sqlite: false } },
  { value: "08001", kept: { postgresql: false, mysql: false, sqlite: false } },
  { value: "12E4", kept: { postgresql: false, mysql: false, sqlite: false } },
  { value: "-0", kept: { postgresql: false, mysql: false, sqlite: false } },
  { value: "-0.00", kept: { postgresql: false, mysql: false, sqlite: false } },
] as const;

for (const { value, kept } of texts)
  for (const dialect of [postgresql, mysql, sqlite])
    test(`${dialect.database} ${kept[dialect.database] ? "keeps" : "does not keep"} the text ${value} in a column of numbers`, () => {
      const cell = dialect.cell("number", { kind: "text", text: value, plain: value });

      assert.equal(cell !== undefined, kept[dialect.database]);
    });

test("a column of integers keeps no text that it would give back otherwise", () => {
  const integers = [postgresql, mysql, sqlite].map(({ cell }) =>
    ["12", "-0", "012"].map((text) => cell("integer", { kind: "text", text, plain: text })),
  );

  assert.deepEqual(integers, Array(3).fill(["12", undefined, undefined]));
});

test("a time goes into every database in UTC", () => {
  const value = { kind: "time", text: "2020-05-13T10:00:00.5+02:00", plain: "" } as const;

  assert.deepEqual(
    [postgresql, mysql, sqlite].map((dialect) => dialect.cell("time", value)),
    ["2020-05-13 08:00:00.5+00", "2020-05-13 08:00:00.5", "2020-05-13T08:00:00.5Z"],
  );
});

const time = { name: "recvtime", kind: "time" } as const;
const ranges = [{ from: "2026-12-31", to: "2027-01-01" }];

test("PostgreSQL: a partitioned table has a partition for each range, with the reserved prefix and bounds in UTC", () => {
  const statements = postgresql.createTable({
    name,
    columns: [time],
    key: [],
    indexes: [{ name: "deneb_i", columns: [time] }],
    partitioning: { time, ranges, hypertable: undefined },
  });

  assert.deepEqual(
    statements.map(({ text }) => text),
    [
      'CREATE TABLE IF NOT EXISTS "s""1"."t""1" ("recvtime" pg_catalog.timestamptz) PARTITION BY RANGE ("recvtime")',
      'CREATE INDEX IF NOT EXISTS "deneb_i" ON "s""1"."t""1" ("recvtime")',
      `CREATE TABLE IF NOT EXISTS "s""1"."deneb_t""1_p2026_12_31" PARTITION OF "s""1"."t""1" FOR VALUES FROM ('2026-12-31 00:00:00+00') TO ('2027-01-01 00:00:00+00')`,
    ],
  );
});

test("PostgreSQL: a hypertable of TimescaleDB is made of a plain table, and its chunks are dropped by their age", () => {
  const statements = postgresql.createTable({
    name,
    columns: [time],
    key: [],
    partitioning: { time, ranges, hypertable: "week" },
  });
  const [created, made] = statements;
  const dropped = postgresql.partitions.dropChunks?.(name, time, "2026-12-31 12:00:00.000");

  assert.equal(created?.text, 'CREATE TABLE IF NOT EXISTS "s""1"."t""1" ("recvtime" pg_catalog.timestamptz)');
  assert.match(
    made?.text ?? "",
    /SELECT create_hypertable\(.*if_not_exists => true, create_default_indexes => false\)/s,
  );
  assert.deepEqual(made?.runs, [['s"1', 't"1', "recvtime", "1 week"]]);
  assert.match(dropped?.text ?? "", /FROM drop_chunks\(/);
  assert.deepEqual(dropped?.runs, [['"s""1"."t""1"', "recvtime", "2026-12-31 12:00:00.000"]]);
});

test("PostgreSQL: no name ends the block that exchanges a table and its partitioned successor", () => {
  const hostile = { database: "", schema: "s", table: "t'; DROP TABLE x; $$ END; \\' --" };

  for (const { text } of postgresql.partitions.release(hostile)) {
    assert.match(text, /^DO E?'/);
    assert.equal((text.match(/'/g) ?? []).length % 2, 0);
  }
});

test("MySQL: a partitioned table has a short time column, and fillers where there is no partition", () => {
  const own = { database: "", schema: "s", table: "t" };
  const [created] = mysql.createTable({
    name: own,
    columns: textColumns("recvTime", "entityId"),
    key: [],
    indexes: [{ name: "i", columns: textColumns("entityId", "recvTime") }],
    partitioning: { time: { name: "recvTime", kind: "text" }, ranges, hypertable: undefined },
  });

  assert.equal(
    created?.text,
    "CREATE TABLE IF NOT EXISTS `s`.`t` (`recvTime` varchar(40) COLLATE utf8mb4_bin, `entityId` text, " +
      "INDEX `i` (`entityId`(190), `recvTime`)) CHARACTER SET utf8mb4 PARTITION BY RANGE COLUMNS(`recvTime`) " +
      "(PARTITION `before_2026_12_31` VALUES LESS THAN ('2026-12-31'), PARTITION `p2026_12_31` VALUES LESS THAN ('2027-01-01'))",
  );
});
