import assert from "node:assert/strict";
import { test } from "node:test";
import { DoneRanges } from "../../../../plugins/file-channel/log/done-ranges.js";
import { rangesToSave } from "../../../../plugins/file-channel/log/saved-ranges.js";
import { Segment } from "../../../../plugins/file-channel/log/segments.js";

const file = (first: number, last: number) => new Segment(`${first}.log`, { first, last, end: 100 });

const done = new DoneRanges(0, [
  { from: 2, to: 4 },
  { from: 6, to: 9 },
  { from: 15, to: 30 },
  { from: 40, to: 41 },
  { from: 50, to: 60 },
]);

const cases = [
  { what: "all where there is room", most: 5, files: [file(1, 100)], ranges: done.ranges },
  {
    what: "the longest ones first",
    most: 2,
    files: [file(1, 100)],
    ranges: [
      { from: 15, to: 30 },
      { from: 50, to: 60 },
    ],
  },
  {
    what: "a file that was removed first, then one that can go",
    most: 2,
    files: [file(1, 5), file(6, 8), file(9, 39), file(42, 100)],
    ranges: [
      { from: 6, to: 9 },
      { from: 40, to: 41 },
    ],
  },
  {
    what: "numbers that the last file does not reach",
    most: 1,
    files: [file(1, 30), file(31, 59)],
    ranges: [{ from: 50, to: 60 }],
  },
];

for (const { what, most, files, ranges } of cases)
  test(`the checkpoint names ${what}`, () => {
    assert.deepEqual(rangesToSave(done, files, most).ranges, ranges);
  });

test("a checkpoint that names some ranges counts those alone", () => {
  const saved = rangesToSave(done, [file(1, 100)], 2);

  assert.deepEqual([saved.low, saved.count, saved.has(2), saved.has(50)], [0, 27, false, true]);
});
