import assert from "node:assert/strict";
import { test } from "node:test";
import { atBeginning } from "../../core/log/log-position.js";
import { PartQueue } from "../../core/log/part-queue.js";
import type { QueuedPartEvent, ReadRecord } from "../../core/log/read-edge.js";
import { oneEvent } from "./own-part.js";

const place = ({ offset, index }: Pick<QueuedPartEvent, "offset" | "index">) => `${offset}+${index}`;

function record(offset: number, events = 1): ReadRecord {
  const one = oneEvent(offset);
  return { ...one, events: Array.from({ length: events }, () => one.events).flat() };
}

interface Removed {
  readonly says: string;
  /** Offset, writer, and how many events it had appended before; one event each. */
  readonly records: readonly (readonly [offset: number, writer: string, before: number])[];
  readonly lost: number;
}

const removed: readonly Removed[] = [
  {
    says: "the records of nobody who comes again, and the events of a writer in another place",
    records: [
      [5, "w", 0],
      [9, "w", 1],
      [11, "w", 7],
    ],
    lost: 3 + 5,
  },
  {
    says: "those of a writer that may be in either place once",
    records: [
      [5, "w", 0],
      [9, "v", 0],
      [11, "w", 5],
    ],
    lost: 4,
  },
  {
    says: "those of two writers in one place",
    records: [
      [5, "w", 0],
      [6, "v", 0],
      [9, "w", 3],
      [10, "v", 4],
    ],
    lost: 2 + 3,
  },
];
for (const { says, records, lost } of removed)
  test(`where offsets follow one another, at least that many events are lost: ${says}`, () => {
    const queue = new PartQueue(3, { ...atBeginning, offset: 4, index: 0, events: 5 }, 0, true);

    for (const [offset, writer, before] of records)
      queue.add({ from: queue.next, records: [{ ...record(offset), writer, before }] });

    assert.equal(queue.lost, lost);
  });

test("what is missing is counted once when records behind it are read again, and a writer is known as before", () => {
  const queue = new PartQueue(3, { ...atBeginning, offset: 3, index: 0, events: 1 }, 0);
  const of = (offset: number, before: number) => ({ ...record(offset), writer: "w", before });
  queue.add({ from: 3, records: [of(4, 0), of(6, 3), of(8, 9)] });
  const before = queue.lost;

  const went = queue.goBackTo(6);
  const between = queue.lost;
  queue.add({ from: 6, records: [of(6, 3), of(7, 4), of(8, 9)] });

  assert.deepEqual([before, went, between, queue.lost, queue.repeated], [7, true, 0, 6, 0]);
});

test("what others have stored and was removed before it was read is in the books, and is not lost", () => {
  const done = { ...atBeginning, offset: 4, index: 0, events: 5, stored: 5 };
  const stored = { ...done, offset: 7, events: 9, stored: 8, deadLettered: 1 };
  const queue = new PartQueue(3, done, 0, true);
  queue.skip(10);
  queue.add({ from: 10, records: [record(10, 2), record(11)] });
  const before = queue.lost;
  const [first, second] = [queue.take(1), queue.take(1)];
  queue.release(second);

  const more = queue.noteStored(stored);
  const meanwhile = queue.done;
  queue.release(first);
  const after = queue.after(queue.take(1));

  assert.deepEqual([before, queue.lost, more, queue.size], [5, 2, 4, 1]);
  assert.deepEqual([place(meanwhile), meanwhile.events, meanwhile.deadLettered], ["7+0", 9, 1]);
  assert.deepEqual([place(queue.done), queue.done.events, queue.done.stored], ["10+1", 11, 10]);
  assert.deepEqual([place(after), after.events, after.stored, after.deadLettered], ["11+0", 12, 11, 1]);
});

test("so it is once a take that has some of what others have stored has ended", () => {
  const done = { ...atBeginning, offset: 4, index: 0, events: 5, stored: 5 };
  const queue = new PartQueue(3, done, 0, true);
  queue.skip(7);
  queue.add({ from: 7, records: [record(7), record(8)] });
  const taken = queue.take(1);

  const more = queue.noteStored({ ...done, offset: 7, events: 9, stored: 9 });
  const meanwhile = queue.done.events;
  queue.release(taken);

  assert.deepEqual([more, meanwhile, queue.done.events, queue.done.stored, queue.lost], [0, 5, 9, 9, 0]);
  assert.equal(queue.size, 1);
});

test("what others have stored in one of several databases is read nevertheless", () => {
  const done = { ...atBeginning, offset: 4, index: 0, events: 5, stored: 5 };
  const queue = new PartQueue(3, done, 0, true);
  queue.add({ from: 4, records: [record(5)] });
  const taken = queue.take(1);

  queue.noteStored({ ...done, offset: 7, events: 8, stored: 8 });
  queue.release(taken);
  const { next } = queue;
  queue.add({ from: 6, records: [record(6), record(7), record(8)] });
  queue.release(queue.take(3));

  assert.equal(next, 6);
  assert.deepEqual([place(queue.done), queue.done.events, queue.done.stored], ["8+0", 9, 9]);
});

test("what a take has is not read again", () => {
  const queue = new PartQueue(3, atBeginning, 0);
  queue.add({ from: 0, records: [record(0), record(1)] });
  queue.take(2);

  assert.deepEqual([queue.goBackTo(1), queue.next, queue.size], [false, 2, 2]);
});
