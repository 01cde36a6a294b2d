import assert from "node:assert/strict";
import { test } from "node:test";
import { DoneRanges } from "../../../../plugins/file-channel/log/done-ranges.js";

const cases = [
  { added: [], low: 0, ranges: [] },
  { added: [[1, 3]], low: 3, ranges: [] },
  { added: [[2, 3]], low: 0, ranges: [[2, 3]] },
  {
    added: [
      [2, 3],
      [1, 1],
    ],
    low: 3,
    ranges: [],
  },
  {
    added: [
      [5, 6],
      [2, 3],
      [4, 4],
    ],
    low: 0,
    ranges: [[2, 6]],
  },
  {
    added: [
      [5, 6],
      [9, 9],
      [1, 5],
    ],
    low: 6,
    ranges: [[9, 9]],
  },
  {
    added: [
      [5, 6],
      [9, 9],
      [1, 20],
    ],
    low: 20,
    ranges: [],
  },
  {
    added: [
      [3, 3],
      [5, 5],
      [7, 7],
      [4, 6],
    ],
    low: 0,
    ranges: [[3, 7]],
  },
  {
    added: [
      [3, 2],
      [1, 2],
      [1, 1],
    ],
    low: 2,
    ranges: [],
  },
] as const;
for (const { added, low, ranges } of cases)
  test(`after ${JSON.stringify(added)} all up to ${low} and ${JSON.stringify(ranges)} are done`, () => {
    const done = new DoneRanges();

    for (const [from, to] of added) done.add({ from, to });

    assert.equal(done.low, low);
    assert.deepEqual(
      done.ranges.map(({ from, to }) => [from, to]),
      ranges,
    );
    assert.equal(done.count, Array.from({ length: 30 }, (_, index) => index + 1).filter((one) => done.has(one)).length);
  });
