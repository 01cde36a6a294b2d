import assert from "node:assert/strict";
import { test } from "node:test";
import { type ComparedBy, USUAL } from "../../../plugins/rdb-sink/mysql/column-keys.js";
import { mistaken } from "../../../plugins/rdb-sink/mysql/mistaken-columns.js";

/** Column, another one of its table, and where the servers take one for the other: tried with MariaDB 10.11 and MySQL 8.0.15. */
const pairs: readonly (readonly [string, string, readonly ComparedBy[]])[] = [
  ["é", "è", ["letters", "letters and bytes"]],
  ["ä", "å", ["letters", "letters and bytes"]],
  ["e", "é", ["letters"]],
  ["estacion", "estación", ["letters"]],
  ["ß", "s", ["letters"]],
  ["ß", "ss", []],
  ["ı", "i", ["letters"]],
  ["e", "f", []],
];

function keysWith(column: string, other: string, most: number): ReadonlySet<string> {
  return new Set([column, other, ...Array.from({ length: most - 2 }, (_, index) => `column${index}`)]);
}

for (const by of ["letters", "letters and bytes"] as const)
  for (const [column, other, confusedBy] of pairs) {
    const isConfused = confusedBy.includes(by);
    test(`a server that compares ${by} takes "${column}" and "${other}" for ${isConfused ? "one" : "two"} in a wide table`, () => {
      const keys = keysWith(column, other, 32);
      const rules = { ...USUAL, confusesBy: by };

      assert.equal(mistaken(column, keys, rules), isConfused ? other : undefined);
      assert.equal(mistaken(other, keys, rules), isConfused ? column : undefined);
      assert.equal(mistaken(column, keysWith(column, other, 31), rules), undefined);
    });
  }
