import assert from "node:assert/strict";
import { test } from "node:test";
import { columnKey, columnName } from "../../../core/ngsi/names/column-name.js";
import { nameLimits, shorten } from "../../../core/ngsi/names/encoding.js";

const mysql = { database: "mysql", lowercase: false } as const;

const kept = ["Temp", "foo:bar a-b", "ÑAndu", "a".repeat(64), "é".repeat(64)] as const;
for (const name of kept) {
  test(`MySQL keeps column ${name} as it is`, () => assert.equal(columnName(name, mysql), name));
}

test("enable_lowercase folds the columns of MySQL too", () =>
  assert.equal(columnName("Temp", { database: "mysql", lowercase: true }), "temp"));

const refused = ["😀", "😁", "a\0b", "a ", "a\t", "a\n\v\f\r", `${"é".repeat(64)}x`] as const;
test("what MySQL refuses in a column becomes _ and a hash of the name, so that no two names meet", () => {
  const columns = refused.map((name) => columnName(name, mysql));

  assert.equal(new Set(columns).size, refused.length);
  for (const column of columns) assert.match(column, /^[^\0\u{10000}-\u{10ffff}]{1,55}_[0-9a-f]{8}$/u);
});

test("MySQL takes column names that differ in letter case for one", () => {
  assert.equal(columnKey("Ñandu", mysql), columnKey("ñANDU", mysql));
  assert.notEqual(
    columnKey("Ñ", { ...mysql, database: "postgresql" }),
    columnKey("ñ", { ...mysql, database: "postgresql" }),
  );
});

test("letters that MySQL does not know as capitals, and the sigma at the end of a word, are those of other columns", () => {
  for (const [one, other] of [
    ["ΟΔΟΣ", "οδος"],
    ["ẞ", "ß"],
    ["Ꙁ", "ꙁ"],
  ] as const)
    assert.notEqual(columnKey(one, mysql), columnKey(other, mysql));
  for (const [one, other] of [
    ["ΟΔΟΣ", "οδοσ"],
    ["İz", "iz"],
    ["Ж", "ж"],
  ] as const)
    assert.equal(columnKey(one, mysql), columnKey(other, mysql));
});

test("a name for MySQL has 64 characters at most, however many bytes they take", () => {
  assert.equal(shorten("é".repeat(64), nameLimits.mysql), "é".repeat(64));
  assert.equal(shorten("a".repeat(65), nameLimits.mysql).length, 64);
});
