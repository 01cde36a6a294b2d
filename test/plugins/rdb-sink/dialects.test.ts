import assert from "node:assert/strict";
import { test } from "node:test";
import { postgresql } from "../../../plugins/rdb-sink/dialects/postgresql.js";
import { sqlite } from "../../../plugins/rdb-sink/dialects/sqlite.js";

const name = { schema: 's"1', table: 't"1' };
const rows = (count: number) => Array.from({ length: count }, (_, index) => [String(index), undefined]);
const table = (count: number) => ({ name, subject: "", columns: ["a", 'b"c'], rows: rows(count) });

test("PostgreSQL: names are quoted", () => {
  assert.deepEqual(
    [
      ...postgresql.createSchema('s"1'),
      ...postgresql.createTable(name, ['b"c']),
      ...postgresql.addColumns(name, ["a", "b"]),
    ].map(({ text }) => text),
    [
      'CREATE SCHEMA IF NOT EXISTS "s""1"',
      'CREATE TABLE IF NOT EXISTS "s""1"."t""1" ("b""c" text)',
      'ALTER TABLE "s""1"."t""1" ADD COLUMN IF NOT EXISTS "a" text, ADD COLUMN IF NOT EXISTS "b" text',
    ],
  );
});

test("SQLite: names are quoted, the schema is the file", () => {
  assert.deepEqual(
    [...sqlite.createSchema(), ...sqlite.createTable(name, ['b"c']), ...sqlite.addColumns(name, ["a", "b"])].map(
      ({ text }) => text,
    ),
    [
      'CREATE TABLE IF NOT EXISTS "t""1" ("b""c" text)',
      'ALTER TABLE "t""1" ADD COLUMN "a" text',
      'ALTER TABLE "t""1" ADD COLUMN "b" text',
    ],
  );
});

test("PostgreSQL: several rows go in one statement", () => {
  assert.deepEqual(postgresql.insert(table(2)), [
    {
      schema: 's"1',
      text: 'INSERT INTO "s""1"."t""1" ("a", "b""c") VALUES ($1, $2), ($3, $4)',
      runs: [["0", undefined, "1", undefined]],
    },
  ]);
});

test("PostgreSQL: more rows run a statement of 100 rows again, then one of the rest", () => {
  const statements = postgresql.insert(table(250));

  assert.deepEqual(
    statements.map(({ runs }) => runs.map(({ length }) => length)),
    [[200, 200], [100]],
  );
  assert.deepEqual(
    statements.flatMap(({ runs }) => runs.flat()),
    rows(250).flat(),
  );
});

test("PostgreSQL: a statement never has more than 65,535 parameters", () => {
  const columns = Array.from({ length: 1600 }, (_, index) => `a${index}`);

  const statements = postgresql.insert({
    name,
    subject: "",
    columns,
    rows: Array.from({ length: 100 }, () => columns),
  });

  assert.ok(statements.every(({ runs }) => runs.every(({ length }) => length <= 65_535)));
  assert.equal(statements.flatMap(({ runs }) => runs.flat()).length, 100 * 1600);
});

test("SQLite: one statement runs once for each row", () => {
  assert.deepEqual(sqlite.insert(table(2)), [
    { schema: 's"1', text: 'INSERT INTO "t""1" ("a", "b""c") VALUES (?, ?)', runs: rows(2) },
  ]);
});

const faults = [
  { dialect: postgresql, code: "42P01", message: "", missing: true, raced: false, retryable: true },
  { dialect: postgresql, code: "42703", message: "", missing: true, raced: false, retryable: true },
  { dialect: postgresql, code: "3F000", message: "", missing: true, raced: false, retryable: true },
  { dialect: postgresql, code: "42P07", message: "", missing: false, raced: true, retryable: false },
  { dialect: postgresql, code: "23505", message: "", missing: false, raced: true, retryable: false },
  { dialect: postgresql, code: "40001", message: "", missing: false, raced: false, retryable: true },
  { dialect: postgresql, code: "53100", message: "", missing: false, raced: false, retryable: true },
  { dialect: postgresql, code: "57P01", message: "", missing: false, raced: false, retryable: true },
  { dialect: postgresql, code: "25006", message: "", missing: false, raced: false, retryable: true },
  { dialect: postgresql, code: "28P01", message: "", missing: false, raced: false, retryable: true },
  { dialect: postgresql, code: "3D000", message: "", missing: false, raced: false, retryable: true },
  { dialect: postgresql, code: "42501", message: "", missing: false, raced: false, retryable: true },
  { dialect: postgresql, code: "55P03", message: "", missing: false, raced: false, retryable: true },
  { dialect: postgresql, code: "22P05", message: "", missing: false, raced: false, retryable: false },
  { dialect: postgresql, code: "23502", message: "", missing: false, raced: false, retryable: false },
  { dialect: postgresql, code: "42804", message: "", missing: false, raced: false, retryable: false },
  { dialect: postgresql, code: "54011", message: "", missing: false, raced: false, retryable: false },
  { dialect: postgresql, code: "0A000", message: "", missing: false, raced: false, retryable: false },
  { dialect: postgresql, code: "EPIPE", message: "", missing: false, raced: false, retryable: true },
  { dialect: postgresql, code: undefined, message: "odd", missing: false, raced: false, retryable: true },
  { dialect: sqlite, code: "SQLITE_ERROR", message: "no such table: t", missing: true, raced: false, retryable: true },
  {
    dialect: sqlite,
    code: "SQLITE_ERROR",
    message: "table t has no column named a",
    missing: true,
    raced: false,
    retryable: true,
  },
  {
    dialect: sqlite,
    code: "SQLITE_ERROR",
    message: "duplicate column name: a",
    missing: false,
    raced: true,
    retryable: true,
  },
  {
    dialect: sqlite,
    code: "SQLITE_ERROR",
    message: "too many columns on t",
    missing: false,
    raced: false,
    retryable: false,
  },
  { dialect: sqlite, code: "SQLITE_BUSY", message: "", missing: false, raced: false, retryable: true },
  { dialect: sqlite, code: "SQLITE_FULL", message: "", missing: false, raced: false, retryable: true },
  { dialect: sqlite, code: "SQLITE_IOERR_WRITE", message: "", missing: false, raced: false, retryable: true },
  { dialect: sqlite, code: "SQLITE_TOOBIG", message: "", missing: false, raced: false, retryable: false },
  { dialect: sqlite, code: "SQLITE_CONSTRAINT_NOTNULL", message: "", missing: false, raced: false, retryable: false },
] as const;

for (const { dialect, code, message, ...expected } of faults)
  test(`what ${code ?? "no code"} ${message} means`, () => {
    const fault = { code, message };

    const { missing, raced, retryable } = dialect.faults;

    assert.deepEqual({ missing: missing(fault), raced: raced(fault), retryable: retryable(fault) }, expected);
  });

const place = { address: "db:5432", database: "d", username: "u", options: "" };

const explained = [
  {
    dialect: postgresql,
    code: "53100",
    line: 'the disk of database "d" at db:5432 as user "u" is full; free space there',
  },
  { dialect: postgresql, code: "22P05", line: 'writing to database "d" at db:5432 as user "u" failed: why' },
  {
    dialect: sqlite,
    code: "SQLITE_FULL",
    line: 'the disk of the database files in "db:5432" is full; free space there',
  },
] as const;

for (const { dialect, code, line } of explained)
  test(`${code} is explained in one line`, () =>
    assert.equal(dialect.faults.explain({ code, message: "why" }, place), line));
