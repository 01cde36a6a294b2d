import assert from "node:assert/strict";
import { test } from "node:test";
import { columnRules } from "../../../plugins/rdb-sink/mysql/column-keys.js";
import { mistaken } from "../../../plugins/rdb-sink/mysql/mistaken-columns.js";

/** Names of columns, and whether MariaDB 10.11 and 11.8 take them for one: each was asked by `CREATE TABLE` with both. */
const pairs: readonly (readonly [string, string, boolean, boolean])[] = [
  ["Temp", "temp", true, true],
  ["Ж", "ж", true, true],
  ["é", "É", true, true],
  ["é", "e", false, false],
  ["ΟΔΟΣ", "οδος", false, true],
  ["οδοσ", "οδος", false, true],
  ["µg", "μg", false, true],
  ["ſ", "S", false, true],
  ["ı", "I", false, true],
  ["ß", "ẞ", false, false],
  ["ß", "ss", false, false],
  ["\u212b", "å", true, false],
  ["\u2126", "ω", true, false],
  ["\u212a", "k", true, false],
  ["ᾳ", "ᾼ", true, true],
  ["İ", "i", true, false],
];

for (const [one, other, before, since] of pairs)
  test(`MariaDB takes "${one}" and "${other}" for ${before ? "one column" : "two"} in 10.11, and for ${since ? "one" : "two"} in 11.8`, () => {
    for (const [foldsUnicode, isOne] of [
      [false, before],
      [true, since],
    ] as const) {
      const { keyOf } = columnRules({ isMariaDb: true, foldsUnicode });

      assert.equal(keyOf(one) === keyOf(other), isOne);
    }
  });

test("MariaDB from 11.5 on confuses no columns of a wide table, so none is refused", () => {
  const rules = columnRules({ isMariaDb: true, foldsUnicode: true });
  const keys = new Set(["é", "è", ...Array.from({ length: 40 }, (_, index) => `a${index}`)]);

  assert.equal(mistaken("è", keys, rules), undefined);
});
