import assert from "node:assert/strict";
import { test } from "node:test";
import { atBeginning } from "../../core/log/log-position.js";
import { type Origin, unpackedEvent } from "../../core/log/packed-record.js";
import { PartQueue } from "../../core/log/part-queue.js";
import type { QueuedPartEvent, ReadRecord } from "../../core/log/read-edge.js";
import { originHeader } from "../../core/sdk/index.js";

const place = ({ offset, index }: Pick<QueuedPartEvent, "offset" | "index">) => `${offset}+${index}`;

function record(offset: number, bodies: readonly (string | readonly [string, Origin])[], before = 0): ReadRecord {
  const events = bodies.map((one) => {
    const [body, origin] = typeof one === "string" ? [one] : one;
    const headers: Record<string, string> =
      origin === undefined ? {} : { [originHeader]: `${origin.of}:${origin.offset}+${origin.index}` };
    return unpackedEvent({ headers, body });
  });
  return { offset, events, bytes: 100, at: 1000 + offset, writer: `w${before === 0 ? offset : ""}`, before };
}

function queueOf(...records: readonly ReadRecord[]): PartQueue {
  const queue = new PartQueue(3, atBeginning, 0);
  queue.add({ from: 0, records });
  return queue;
}

test("events of several records are taken in order, and the position follows what is released", () => {
  const queue = queueOf(record(4, ["a", "b"]), record(9, ["c"]));

  const taken = queue.take(2);
  queue.release(taken);

  assert.deepEqual(taken.map(place), ["4+0", "4+1"]);
  assert.deepEqual(place(queue.done), "4+1");
  assert.deepEqual([queue.done.events, queue.done.stored, queue.size, queue.next], [2, 2, 1, 10]);
});

test("bytes are whole numbers, and none are left when all events are released", () => {
  const records = Array.from({ length: 20 }, (_, at) =>
    record(at, ["a", "b", "c", "d", "e", "f"].slice(0, (at % 6) + 1)),
  );
  const queue = queueOf(...records);

  const held = queue.bytes;
  for (let taken = queue.take(7); taken.length > 0; taken = queue.take(7)) queue.release(taken);

  assert.ok(Number.isInteger(held) && held >= 2000, String(held));
  assert.equal(queue.bytes, 0);
});

test("a position that is stored with a part of a take counts what of it became dead letters before", () => {
  const queue = queueOf(record(0, ["a", "b", "c", "d"]));
  const taken = queue.take(4);

  const position = queue.after(taken.slice(0, 3), ({ body }) =>
    body === "b" || body === "d" ? "deadLettered" : undefined,
  );

  assert.deepEqual([position.events, position.stored, position.deadLettered], [3, 2, 1]);
});

test("the position never passes what another take holds", () => {
  const queue = queueOf(record(0, ["a", "b", "c"]));
  const [first, second] = [queue.take(1), queue.take(1)];

  queue.release(second);
  const meanwhile = place(queue.done);
  queue.release(first);

  assert.deepEqual([meanwhile, place(queue.done)], ["-1+-1", "0+1"]);
});

test("the position of a part of a take covers the events before it", () => {
  const queue = queueOf(record(0, ["a", "b", "c"]));

  const taken = queue.take(3);

  assert.deepEqual(
    [1, 2, 3].map((count) => place(queue.after(taken.slice(0, count)))),
    ["0+0", "0+1", "0+2"],
  );
  assert.deepEqual(queue.after(taken.slice(0, 2)).stored, 2);
});

test("what became of the events of a take stands in the position", () => {
  const queue = queueOf(record(0, ["a", "b", "c", "d"]));

  queue.release(queue.take(4), { stored: 1, elsewhere: 1, deadLettered: 1, filtered: 1 });

  const { events, stored, deadLettered, filtered } = queue.done;
  assert.deepEqual([events, stored, deadLettered, filtered], [4, 2, 1, 1]);
});

test("a record that comes twice is left out, by its offset and by its writer", () => {
  const queue = queueOf(record(0, ["a"]));

  queue.add({ from: 0, records: [record(0, ["a"]), { ...record(7, ["b"]), writer: "w0", before: 0 }] });

  assert.deepEqual([queue.size, queue.repeated, queue.lost], [1, 1, 0]);
});

test("events that are missing between two records of a writer are lost", () => {
  const queue = queueOf({ ...record(0, ["a", "b"]), writer: "w" }, { ...record(5, ["c"]), writer: "w", before: 6 });

  assert.deepEqual([queue.size, queue.lost], [3, 4]);
});

test("a record that another one of its writer follows is lacking when it was neither read nor done before", () => {
  const done = { ...atBeginning, offset: 3, index: 0, events: 1 };
  const follows = (offset: number, before: number, writer = "w") => ({
    ...record(offset, ["a"], 1),
    writer,
    follows: before,
  });
  const lacking = (...records: readonly ReadRecord[]) => {
    const queue = new PartQueue(3, done, 0);
    queue.skip(8);
    return queue.lacking({ from: 0, records })?.offset;
  };

  assert.deepEqual(
    [
      lacking(follows(9, 5)),
      lacking(record(9, ["a"]), follows(11, 5)),
      lacking(follows(9, 3)),
      lacking(follows(9, 2)),
      lacking(follows(9, 2), follows(12, 9)),
      lacking(follows(9, 2, "v"), follows(12, 7)),
      lacking(record(9, ["a"])),
      lacking(follows(9, 9)),
    ],
    [5, 5, undefined, undefined, undefined, 7, undefined, undefined],
  );
});

test("a record between two of its writer is lacking, unless it is one that cannot be read", () => {
  const queue = new PartQueue(3, { ...atBeginning, offset: 3, index: 0, events: 1 }, 0);
  const of = (offset: number, before: number, follows?: number) => ({
    ...record(offset, ["a", "b"]),
    writer: "w",
    before,
    follows,
  });
  const unreadable = { ...record(7, []), writer: "unreadable 7" };
  queue.add({ from: 3, records: [of(5, 10, 2)] });
  const lacking = (...records: readonly ReadRecord[]) => queue.lacking({ from: 6, records })?.offset;

  const looks = [
    lacking(of(9, 14, 7)),
    lacking(of(7, 12, 5), of(9, 14, 7)),
    lacking(of(7, 12, 5), of(11, 16, 9)),
    lacking(unreadable, of(9, 14, 7)),
    lacking(of(9, 14)),
  ];
  queue.add({ from: 6, records: [unreadable] });

  assert.deepEqual([...looks, lacking(of(9, 14, 7))], [7, undefined, 9, undefined, undefined, undefined]);
});

test("a record that is lacking is lost when it is read on, and when more than that is done", () => {
  const queue = new PartQueue(3, { ...atBeginning, offset: 3, index: 0, events: 1 }, 0);
  queue.skip(8);
  queue.add({ from: 8, records: [record(9, ["a"])] });
  queue.release(queue.take(1));
  const behind = { from: 10, records: [{ ...record(11, ["b"]), follows: 5 }] };

  const lacking = queue.lacking(behind);
  queue.add(behind);

  assert.deepEqual([lacking, queue.lost, queue.waiting], [undefined, 1, 1]);
});

test("of a part of which nothing is known to be done, no record is lost that was there before the first one that was read", () => {
  const queue = new PartQueue(3, atBeginning, 0);
  queue.skip(8);
  const read = { from: 8, records: [{ ...record(9, ["a"]), follows: 5 }] };

  const lacking = queue.lacking(read);
  queue.add(read);

  assert.deepEqual([lacking, queue.lost], [{ offset: 5, before: 9 }, 0]);
});

test("what came from another log before is left out and does not count, also after a takeover", () => {
  const origin = (offset: number, index: number): Origin => ({ of: "other/1", offset, index });
  const queue = queueOf(
    record(0, [
      ["a", origin(7, 0)],
      ["b", origin(7, 1)],
      ["a", origin(7, 0)],
    ]),
  );
  queue.release(queue.take(9));
  const successor = new PartQueue(3, queue.done, 2);

  successor.add({ from: 0, records: [record(1, [["b", origin(7, 1)], ["c", origin(8, 0)], "d"])] });

  assert.deepEqual([queue.done.events, queue.repeated], [2, 1]);
  assert.deepEqual(successor.take(9).map(place), ["1+1", "1+2"]);
  assert.deepEqual(successor.repeated, 1);
});

test("a successor goes on in the middle of a record", () => {
  const queue = queueOf(record(5, ["a", "b", "c"]));
  queue.release(queue.take(1));

  const successor = new PartQueue(3, queue.done, 6);
  successor.add({ from: 0, records: [record(5, ["a", "b", "c"])] });

  assert.deepEqual(successor.take(9).map(place), ["5+1", "5+2"]);
});

test("where offsets follow one another, one that is missing is a record that is lost", () => {
  const from = { ...atBeginning, offset: 4, index: 0, events: 5 };
  const queues = [true, false].map((gapless) => new PartQueue(3, from, 0, gapless));

  for (const queue of queues) {
    queue.skip(5);
    queue.add({ from: 5, records: [record(5, ["a"]), record(8, ["b"])] });
  }

  assert.deepEqual(
    queues.map(({ lost }) => lost),
    [2, 0],
  );
});

test("records that are gone behind the position are lost, and those before the first one that a new group reads are not", () => {
  const queues = [4, -1].map((offset) => new PartQueue(3, { ...atBeginning, offset }, 0, true));

  for (const queue of queues) {
    queue.skip(9);
    queue.add({ from: 9, records: [record(9, ["a"])] });
  }

  assert.deepEqual(
    queues.map(({ lost }) => lost),
    [4, 0],
  );
});

test("records that were gone at the beginning are lost as far as no position that comes later covers them", () => {
  const queue = new PartQueue(3, atBeginning, 0, true);
  queue.skip(9);
  queue.add({ from: 9, records: [record(9, ["a"])] });

  const lost = [-1, 2, 5, 3].map((offset) => {
    if (offset >= 0) queue.skipTo({ ...atBeginning, offset, index: 0, events: offset + 1 });
    return queue.lost;
  });

  assert.deepEqual(lost, [0, 6, 3, 3]);
});

test("records are left out while some before them were not read, so that none is passed over", () => {
  const queue = queueOf(record(0, ["a"]));

  queue.add({ from: 2, records: [record(4, ["c"])] });
  const before = queue.next;
  queue.add({ from: 1, records: [record(3, ["b"]), record(4, ["c"])] });

  assert.deepEqual([before, queue.next], [1, 5]);
  assert.deepEqual(queue.take(9).map(place), ["0+0", "3+0", "4+0"]);
});

test("only what was in the log before may have been delivered before", () => {
  const queue = new PartQueue(3, atBeginning, 5);
  queue.add({ from: 0, records: [record(4, ["a"]), record(5, ["b"])] });

  assert.deepEqual(
    queue.take(9).map(({ redelivered }) => redelivered),
    [true, false],
  );
});

test("a stored position leaves out what waits, and what is not read yet", () => {
  const queue = queueOf(record(0, ["a", "b"]), record(1, ["c"]));

  const within = queue.skipTo({ ...atBeginning, offset: 0, index: 0, events: 1, stored: 1 });
  const beyond = queue.skipTo({ ...atBeginning, offset: 6, index: 2, events: 10, stored: 9, deadLettered: 1 });
  queue.add({ from: 0, records: [record(6, ["w", "x", "y", "z"])] });

  assert.deepEqual([within, beyond, place(queue.done), queue.done.events], [1, 9, "6+2", 10]);
  assert.deepEqual(queue.take(9).map(place), ["6+3"]);
});

test("an event that has a dead letter is left out, whether it was read before or not", () => {
  const queue = queueOf(record(0, ["a", "b"]));

  queue.leaveOut({ offset: 0, index: 0 });
  queue.add(
    { from: 0, records: [record(1, ["c", "d"])] },
    { hasLetter: ({ offset, index }) => offset === 1 && index === 1 },
  );

  const taken = queue.take(9);
  assert.deepEqual(taken.map(place), ["0+1", "1+0"]);
  assert.deepEqual([queue.done.deadLettered, place(queue.done)], [1, "0+0"]);
  queue.release(taken);
  assert.deepEqual([queue.done.deadLettered, queue.done.stored, place(queue.done)], [2, 2, "1+1"]);
});

test("what is done without a take counts once, also in the position of a take before it", () => {
  const queue = queueOf(record(0, ["a", "b"]), record(1, ["c"]));
  const hasLetter = ({ offset }: Pick<QueuedPartEvent, "offset">) => offset === 2;
  queue.add({ from: 2, records: [record(2, ["d"])] }, { hasLetter });
  queue.add({ from: 3, records: [record(3, ["e"])] }, { isOfOthers: ({ body }) => body === "e" });
  const taken = queue.take(1);
  queue.leaveOut({ offset: 0, index: 1 });
  queue.skipTo({ ...atBeginning, offset: 1, index: 0, events: 3, stored: 2, deadLettered: 1 });

  const after = queue.after(taken);
  queue.release(taken);

  for (const { events, stored, deadLettered, filtered } of [after, queue.done])
    assert.deepEqual([events, stored, deadLettered, filtered], [5, 2, 2, 1]);
});

test("what waits is discarded and what is taken can be finished", () => {
  const queue = queueOf(record(0, ["a", "b", "c"]));
  const taken = queue.take(1);

  queue.discardWaiting();
  queue.release(taken);

  assert.deepEqual([queue.waiting, place(queue.done)], [0, "0+0"]);
});

test("what of a take is done before older events is not handed out again, and counts when these are done", () => {
  const queue = queueOf(record(0, ["a", "b", "c", "d"]));
  const [a, b, c, d] = queue.take(4);
  if (a === undefined || b === undefined || c === undefined || d === undefined) return assert.fail("not taken");

  queue.leave([b, d], "stored");
  queue.leave([c], "deadLettered");
  queue.restore([a]);
  const meanwhile = { ...queue.done, waiting: queue.waiting, size: queue.size };
  const again = queue.take(4);
  const next = queue.after(again);
  queue.release(again);

  assert.deepEqual([place(meanwhile), meanwhile.stored, meanwhile.waiting, meanwhile.size], ["-1+-1", 0, 1, 4]);
  assert.deepEqual(again.map(place), ["0+0"]);
  assert.deepEqual([place(next), next.stored, next.deadLettered], ["0+3", 3, 1]);
  assert.deepEqual([place(queue.done), queue.done.stored, queue.done.deadLettered], ["0+3", 3, 1]);
  assert.deepEqual([queue.size, queue.bytes], [0, 0]);
});

test("of events that a stored position passes the books have as many dead letters and filtered ones as it counts", () => {
  const queue = new PartQueue(3, atBeginning, 0);
  const records = [record(0, ["a", "b"]), record(1, ["c"]), record(2, ["d"])];
  queue.add({ from: 0, records }, { hasLetter: ({ offset, index }) => offset === 0 && index === 1 });

  queue.skipTo({ ...atBeginning, offset: 1, index: 0, events: 3, stored: 0, deadLettered: 2, filtered: 1 });

  const { events, stored, deadLettered, filtered } = queue.done;
  assert.deepEqual({ events, stored, deadLettered, filtered }, { events: 3, stored: 0, deadLettered: 2, filtered: 1 });
  assert.equal(queue.waiting, 1);
});
