import assert from "node:assert/strict";
import { test } from "node:test";
import { atBeginning } from "../../core/log/log-position.js";
import { PartQueue } from "../../core/log/part-queue.js";
import { heapUsed } from "../support/heap-used.js";

const EVENTS = 6000;

/** A queue with events that came from this number of partitions of another log in turn. */
function queueOf(origins: number): PartQueue {
  const queue = new PartQueue(0, atBeginning, 0, true);
  for (let offset = 0; offset < EVENTS; offset += 1) {
    const origin = { of: `topic/${offset % origins}`, offset: Math.floor(offset / origins), index: 0 };
    const events = [{ event: { headers: {}, body: {} }, origin }];
    queue.add({ from: offset, records: [{ offset, bytes: 1, at: 0, writer: "w", before: offset, events }] });
  }
  return queue;
}

test("events that came from many partitions take no more memory than those of one", () => {
  const held: PartQueue[] = [];
  const taken = (origins: number): number => {
    const before = heapUsed();
    held.push(queueOf(origins));
    return heapUsed() - before;
  };

  const one = taken(1);
  const many = taken(200);

  assert.equal(held.length, 2);
  assert.ok(many < 2 * one, `${many} bytes in place of ${one}`);
});

test("a position says of each partition which event came last, as far as events are done", () => {
  const queue = queueOf(3);
  const first = queue.take(4);
  queue.take(1);
  const next = queue.take(3);

  const before = queue.after(first);
  queue.release(next);
  queue.release(first);

  const placesOf = (origins: ReadonlyMap<string, { readonly offset: number }>) =>
    [...origins].map(([of, { offset }]) => [of, offset]);
  const expected = [
    ["topic/0", 1],
    ["topic/1", 0],
    ["topic/2", 0],
  ];
  assert.deepEqual([placesOf(before.origins), before.events], [expected, 4]);
  assert.deepEqual([placesOf(queue.done.origins), queue.done.events], [expected, 4]);
});
