import assert from "node:assert/strict";
import { test } from "node:test";
import { ServiceShares } from "../../../../core/sdk/channel/index.js";
import { Backlog } from "../../../../plugins/file-channel/log/backlog.js";
import { DoneRanges } from "../../../../plugins/file-channel/log/done-ranges.js";
import { LogReader } from "../../../../plugins/file-channel/log/log-reader.js";
import { LogSupply } from "../../../../plugins/file-channel/log/log-supply.js";
import { SegmentList } from "../../../../plugins/file-channel/log/segments.js";

/** A supply that has read this number of events, together of this number of bytes, and hands out 250 bytes at a time. */
async function supplyOf(count: number, bytes: number): Promise<LogSupply> {
  const events = Array.from({ length: count }, (_, at) => ({ sequence: at + 1, event: { headers: {}, body: at } }));
  const reader = new LogReader(new SegmentList(), new Map());
  const read = async () => ({ events, bytes, lost: [], file: "" });
  const supply = new LogSupply({ reader, state: { done: new DoneRanges() }, read }, 250);
  await supply.read();
  return supply;
}

/** The numbers of the events of each batch until there are no more. */
function batchesOf(supply: LogSupply, max: number): readonly (readonly number[])[] {
  const batches: number[][] = [];
  for (let events = supply.shift(max); events.length > 0; events = supply.shift(max))
    batches.push(events.map(({ sequence }) => sequence));
  return batches;
}

test("no more events are handed out at a time than the heap has room for, in their order", async () => {
  const batches = batchesOf(await supplyOf(7, 700), 1000);

  assert.deepEqual(batches.slice(0, 2), [
    [1, 2],
    [3, 4],
  ]);
  assert.deepEqual(batches.flat(), [1, 2, 3, 4, 5, 6, 7]);
});

test("an event that is larger than that is handed out alone", async () => {
  assert.deepEqual(batchesOf(await supplyOf(2, 9000), 10), [[1], [2]]);
});

test("small events are handed out as many as are asked for", async () => {
  assert.deepEqual(batchesOf(await supplyOf(5, 50), 3), [
    [1, 2, 3],
    [4, 5],
  ]);
});

for (const isFair of [true, false])
  test(`events of several services, ${isFair ? "in turn" : "in order"}, are chosen up to the bytes that the heap has room for`, () => {
    const limits = { channel: "c1", capacity: 100, percentage: 100 };
    const backlog = new Backlog(new ServiceShares(limits), isFair, 250);
    for (const sequence of [1, 2, 3, 4, 5, 6])
      backlog.add(sequence < 5 ? "a" : "b", { sequence, bytes: 100, offset: 0 });

    const choose = () => (isFair ? backlog.inTurn(10) : backlog.oldest(10));
    const chosen = [choose(), choose(), choose()];

    const [first, second] = isFair
      ? [
          [1, 5, 2],
          [6, 3, 4],
        ]
      : [
          [1, 2, 3],
          [4, 5, 6],
        ];
    assert.deepEqual(chosen, [first, second, []]);
  });
