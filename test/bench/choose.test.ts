import assert from "node:assert/strict";
import { test } from "node:test";
import { choose } from "./choose.js";

const names = [
  "by hand: express, pg, one INSERT before the answer",
  "PostgreSQL, memory channel, batch_size 1 (packaged), 100 tables",
  "PostgreSQL, memory channel, batch_size 1000, 1 table",
  "MariaDB, file channel, batch_size 100, 1,000 tables",
];

const cases = [
  { texts: [], found: [0, 1, 2, 3] },
  { texts: ["by-hand"], found: [0] },
  { texts: ["packaged, 100 tables"], found: [1] },
  { texts: ["batch_size 1"], found: [1, 2] },
  { texts: ["mariadb 1000"], found: [3] },
  { texts: ["MariaDB 1,000 tables"], found: [3] },
  { texts: ["file", "by hand"], found: [0, 3] },
  { texts: ["file memory"], found: [] },
] as const;

for (const { texts, found } of cases)
  test(`the texts ${JSON.stringify(texts)} find the cases ${JSON.stringify(found)}`, () => {
    const list = names.map((name) => ({ name }));

    const chosen = choose(list, texts);

    assert.deepEqual(
      chosen.map(({ name }) => names.indexOf(name)),
      [...found],
    );
  });
