import assert from "node:assert/strict";
import { test } from "node:test";
import { Segment } from "../../../../plugins/file-channel/log/segments.js";

test("of a file with holes only the places of its events are read", () => {
  const segment = new Segment("1.log", { first: 1, last: 90, end: 9000 });
  const before = [24, 5000].map((place) => segment.readableFrom(place));
  const stretches = [
    { from: 10, to: 11, begin: 1000, end: 1200 },
    { from: 50, to: 50, begin: 5000, end: 5100 },
  ];

  segment.compact({ bytes: 8192, stretches });

  assert.deepEqual(before, [24, 5000]);
  assert.deepEqual(
    [24, 1000, 1100, 1200, 5050, 5100].map((place) => segment.readableFrom(place)),
    [1000, 1000, 1100, 5000, 5050, 9000],
  );
  assert.deepEqual([segment.bytes, segment.end], [8192, 9000]);
});
