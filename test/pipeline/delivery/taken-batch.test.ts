import assert from "node:assert/strict";
import { test } from "node:test";
import { Settlements } from "../../../core/pipeline/delivery/settlements.js";
import { TakenBatch } from "../../../core/pipeline/delivery/taken-batch.js";
import { codeOf, type Event, idOf, letterHeader, type TakePositions } from "../../../core/sdk/index.js";

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
  return new TakenBatch(events, { whole: events, transaction, settlements: new Settlements() });
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
  const batch = new TakenBatch([first, third], { whole: events, transaction, settlements });

  assert.equal(batch.position, "c:3");
});

test("a position says of the events before it which of them are dead letters or left out", () => {
  const settlements = new Settlements();
  assert.ok(first && second && third);
  let outcomes: readonly unknown[] = [];
  const after: TakePositions["after"] = (count, outcomeOf) => {
    outcomes = events.slice(0, count).map((event) => outcomeOf?.(event));
    return `c:${count}`;
  };
  const positions = { ...transaction.positions, after };
  const batch = new TakenBatch(events, { whole: events, transaction: { positions }, settlements });
  batch.settle("dead-lettered", [first]);
  batch.settle("filtered", [second]);
  batch.settle("stored-before", [third]);

  assert.equal(batch.position, "c:5");
  assert.deepEqual(outcomes, ["deadLettered", "filtered", "filtered", undefined, undefined]);
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

test("what became of a whole batch is known of each of its events, until it leaves the channel", () => {
  const settlements = new Settlements();
  assert.ok(first && second && third);

  settlements.note(events, "stored");
  const counted = settlements.count(events);
  const open = settlements.open([first, second]);
  settlements.note([third], "dead-lettered");
  const corrected = settlements.count(events);
  settlements.close(events);

  assert.deepEqual(counted, { stored: 5, "dead-lettered": 0, filtered: 0 });
  assert.deepEqual(open, []);
  assert.deepEqual(corrected, { stored: 4, "dead-lettered": 1, filtered: 0 });
  assert.deepEqual(settlements.open(events), events);
  assert.equal(settlements.outcomeOf(third), undefined);
});

test("a batch that left the channel as it was noted is forgotten", () => {
  const settlements = new Settlements();

  settlements.note(events, "elsewhere");
  const elsewhere = settlements.elsewhere(events);
  settlements.close(events);

  assert.equal(elsewhere, 5);
  assert.deepEqual(settlements.open(events), events);
});

test("behind a channel that forgets an event has one id for as long as it is there, also in a part and for another feed", () => {
  const settlements = new Settlements();
  const batch = new TakenBatch(events, { whole: events, transaction: {}, settlements });
  const [left] = batch.split();
  const later = new Settlements();
  later.join(settlements);
  assert.ok(first && second);

  const ids = [batch, left, new TakenBatch(events, { whole: events, transaction: {}, settlements: later })].map((one) =>
    idOf(one.forSink(), first),
  );
  settlements.close(events);
  const next = idOf(batch.forSink(), first);

  assert.equal(new Set(ids).size, 1);
  assert.notEqual(next, ids[0]);
  assert.notEqual(idOf(batch.forSink(), second), next);
});

test("an event of a durable channel has the id of the channel with what tells copies of the channel apart", () => {
  const positions = { ...transaction.positions, idOf: ({ body }: Event) => `c-${body}` };
  const copies: readonly Event[] = events.map((event) => ({ ...event, headers: { copy: "yes" } }));
  const ids = [events, events.map((event) => structuredClone(event)), copies].map((list) => {
    const [event] = list;
    assert.ok(event);
    return idOf(
      new TakenBatch(list, { whole: list, transaction: { positions }, settlements: new Settlements() }).forSink(),
      event,
    );
  });

  assert.match(ids[0] ?? "", /^c-1-[0-9a-f]{12}$/);
  assert.equal(ids[1], ids[0]);
  assert.notEqual(ids[2], ids[0]);
});

test("a replayed event has the id of its dead letter, and an event that is not in the batch has none", () => {
  const replayed: Event = { headers: { [letterHeader]: "the-letter" }, body: 1 };
  const batch = new TakenBatch([replayed], {
    whole: [replayed],
    transaction,
    settlements: new Settlements(),
  }).forSink();

  assert.equal(idOf(batch, replayed), "the-letter");
  assert.throws(
    () => idOf(batch, { ...replayed }),
    (error) => codeOf(error) === "EVENT_NOT_IN_BATCH",
  );
});

test("behind a channel that forgets a batch has no position", () => {
  const batch = new TakenBatch(events, { whole: events, transaction: {}, settlements: new Settlements() });

  assert.equal(batch.position, undefined);
  assert.equal("position" in batch.forSink(), false);
  assert.deepEqual(batch.coveredBy("c:1"), []);
});
