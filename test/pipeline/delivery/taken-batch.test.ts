import assert from "node:assert/strict";
import { test } from "node:test";
import { Settlements, TakenBatch } from "../../../core/pipeline/delivery/taken-batch.js";
import type { Event } from "../../../core/sdk/index.js";

const events: readonly Event[] = [1, 2, 3, 4, 5].map((body) => ({ headers: {}, body }));
const [first, second, third, fourth] = events;
const bodies = (list: readonly Event[]) => list.map(({ body }) => body);
const transaction = {
  positions: {
    after: (count: number) => `c:${count}`,
    coveredBy: (position: string) => events.slice(0, Number(position.split(":")[1])),
    idOf: () => undefined,
  },
};

function whole(): TakenBatch {
  return new TakenBatch(events, events, transaction, new Settlements());
}

test("a batch has two halves, each with its own position", () => {
  const halves = whole().split();

  assert.deepEqual(
    halves.map(({ events: half }) => bodies(half)),
    [
      [1, 2, 3],
      [4, 5],
    ],
  );
  assert.deepEqual(
    halves.map(({ position }) => position),
    ["c:3", "c:5"],
  );
});

test("what is settled is not in what is open, in the batch and in its parts", () => {
  const batch = whole();
  const [left, right] = batch.split();
  assert.ok(second && fourth);

  const counts = [left.settle("stored", [second]), batch.settle("dead-lettered", [second, fourth])];

  assert.deepEqual(counts, [1, 1]);
  assert.deepEqual(
    [batch, left, right].map((part) => bodies(part.open().events)),
    [[1, 3, 5], [1, 3], [5]],
  );
  assert.equal(left.open().position, "c:3");
});

test("a batch that is untouched is open as it is", () => {
  const batch = whole();

  assert.equal(batch.open(), batch);
});

test("a position covers events of the batch alone", () => {
  const [, right] = whole().split();

  assert.deepEqual(bodies(right.coveredBy("c:4")), [4]);
});

test("an event that is no longer in the batch counts in its position", () => {
  const settlements = new Settlements();
  assert.ok(first && third);
  const batch = new TakenBatch([first, third], events, transaction, settlements);

  assert.equal(batch.position, "c:3");
});

test("a sink gets a list that it cannot change, and cannot settle anything", () => {
  const batch = whole();
  const given = batch.forSink();

  assert.throws(() => Reflect.get(given.events, "splice").call(given.events, 0, 2), TypeError);
  assert.throws(() => Object.assign(given, { position: undefined }), TypeError);
  assert.throws(() => Object.assign(given.position ?? {}, { text: "c:99" }), TypeError);
  assert.deepEqual(bodies(given.events), [1, 2, 3, 4, 5]);
  assert.equal(Reflect.get(given, "settle"), undefined);
  assert.deepEqual([given.position?.text, bodies(given.position?.coveredBy("c:2") ?? [])], ["c:5", [1, 2]]);
});

test("behind a channel that forgets a batch has no position", () => {
  const batch = new TakenBatch(events, events, {}, new Settlements());

  assert.equal(batch.position, undefined);
  assert.equal("position" in batch.forSink(), false);
  assert.deepEqual(batch.coveredBy("c:1"), []);
});
