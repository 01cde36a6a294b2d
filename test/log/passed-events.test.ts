import assert from "node:assert/strict";
import { test } from "node:test";
import { atBeginning } from "../../core/log/log-position.js";
import { PartQueue } from "../../core/log/part-queue.js";
import type { QueuedPartEvent } from "../../core/log/read-edge.js";
import { heapUsed } from "../support/heap-used.js";
import { oneEvent } from "./own-part.js";

const EVENTS = 100_000;
const BATCH = 500;
/** An entry for each event would take more than ten times as much. */
const LITTLE_BYTES = 2_500_000;

const from = { ...atBeginning, offset: 0, index: 0, events: 1, stored: 1 };

function read(queue: PartQueue, first: number, count: number): void {
  const records = Array.from({ length: count }, (_, at) => ({
    ...oneEvent(first + at),
    writer: "w",
    before: first + at,
  }));
  queue.add({ from: queue.next, records });
}

/** All but the first event pass, while it is held back; returns what is taken in the end. */
function passAll(queue: PartQueue, first: number): readonly QueuedPartEvent[] {
  for (let offset = first; offset < first + EVENTS; offset += BATCH) {
    read(queue, offset, BATCH);
    const [held = assert.fail(), ...rest] = queue.take(BATCH + 1);
    queue.leave(rest, "stored");
    queue.restore([held]);
  }
  return queue.take(BATCH);
}

for (const { title, first } of [
  { title: "what has passed an event that is held back takes no memory for each event", first: 1 },
  { title: "so it is where a record is missing, whose events others may have counted", first: 2 },
]) {
  test(title, () => {
    const queue = new PartQueue(0, from, 0, true);
    queue.skip(first);
    const before = heapUsed();

    const held = passAll(queue, first);

    const taken = heapUsed() - before;
    assert.ok(taken < LITTLE_BYTES, `${taken} bytes`);
    assert.deepEqual([held.length, queue.size, queue.bytes, queue.done.events], [1, EVENTS, 10, 1]);
    queue.release(held);
    assert.deepEqual([queue.size, queue.done.stored, queue.done.offset], [0, EVENTS + 1, first + EVENTS - 1]);
  });
}

test("what was read behind what has passed can be read again", () => {
  const queue = new PartQueue(0, from, 0);
  passAll(queue, 1);
  const next = EVENTS + 1;
  read(queue, next, 3 * BATCH);

  const isBack = [next - 1, next].map((offset) => queue.goBackTo(offset));
  read(queue, next, 3 * BATCH);

  assert.deepEqual([isBack, queue.waiting, queue.repeated], [[false, true], 3 * BATCH, 0]);
});

test("events with a dead letter behind one that is held back leave room for others", () => {
  const queue = new PartQueue(0, from, 0);
  read(queue, 1, 1);

  queue.add({ from: 2, records: [oneEvent(2), oneEvent(3)] }, { hasLetter: () => true });

  assert.deepEqual([queue.bytes, queue.size], [10, 3]);
});

test("a position of an agent that releases a later take first counts each event once", () => {
  const queue = new PartQueue(0, from, 0);
  read(queue, 1, 3);
  const [first, second] = [queue.take(1), queue.take(2)];
  queue.release(second, { stored: 1, elsewhere: 0, deadLettered: 1, filtered: 0 });

  const [done, after] = [queue.done, queue.after(first)];

  assert.deepEqual([done.events, done.stored, done.deadLettered], [1, 1, 0]);
  assert.deepEqual([after.events, after.stored, after.deadLettered], [4, 3, 1]);
});
