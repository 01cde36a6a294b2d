import assert from "node:assert/strict";
import { test } from "node:test";
import { agentCase, bareHttp } from "./case.js";
import { someLoad } from "./some-load.js";
import { type TargetRow, targetRows, verdictOf } from "./targets.js";

const measured = (acceptedPerSecond: number, storedPerSecond: number) => {
  return { acceptedPerSecond, storedPerSecond, load: someLoad, half: { ...someLoad, p99: 10 }, startMilliseconds: 900 };
};

const packaged = agentCase({ database: "postgresql", channel: "memory", batchSize: 1, entities: 100 });

const rows = targetRows(
  {
    cases: [
      { subject: bareHttp, runs: [measured(40_000, 0)] },
      { subject: packaged, runs: [measured(1, 1000), measured(1, 20_000), measured(1, 90_000)] },
    ],
    ceilings: [],
    growth: [],
    scale: [],
  },
  { packaged: 2000 },
);

const rowOf = (what: string): TargetRow => {
  const row = rows.find((one) => one.what === what);
  assert.ok(row !== undefined, what);
  return row;
};

const cases = [
  { what: "stored/s to the original, packaged, tables: 100", value: 10, verdict: "must" },
  { what: "stored/s to bare node:http, memory, 100 tables, batch_size 1", value: 0.5, verdict: "must" },
  { what: "answer p99 at half of the highest rate, memory channel, batch_size 1", value: 10, verdict: "must" },
  { what: "start to first 200, packaged", value: 900, verdict: "missed" },
  { what: "stored/s to the original's best, batch_size 100, one table", value: undefined, verdict: undefined },
] as const;

for (const { what, value, verdict } of cases)
  test(`the target "${what}" is judged by the median of the runs: ${value}, ${verdict}`, () => {
    const row = rowOf(what);

    assert.equal(row.value, value);
    assert.equal(verdictOf(row), verdict);
  });
