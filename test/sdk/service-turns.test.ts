import assert from "node:assert/strict";
import { test } from "node:test";
import type { QueuedEvent } from "../../core/sdk/channel/index.js";
import { ServiceTurns, Turns } from "../../core/sdk/channel/index.js";

const queued = (sequence: number, service: string): QueuedEvent => ({
  sequence,
  event: { headers: { "fiware-service": service }, body: sequence },
});

const sequencesOf = (events: readonly QueuedEvent[]) => events.map(({ sequence }) => sequence);

test("one event of a service waits for one event of each other service, however many those have", () => {
  const turns = new ServiceTurns();
  turns.push(Array.from({ length: 100_000 }, (_, at) => queued(at, at % 2 === 0 ? "a" : "b")));
  turns.push([queued(100_000, "c")]);

  assert.ok(sequencesOf(turns.shift(3)).includes(100_000));
  assert.equal(turns.length, 99_998);
});

test("the events of one service stay in their order, also when some of them came back", () => {
  const turns = new ServiceTurns();
  turns.push([queued(1, "a"), queued(2, "a"), queued(3, "b"), queued(4, "a"), queued(5, "b")]);

  const first = turns.shift(2);
  const second = turns.shift(2);
  turns.restore(second);
  turns.restore(first);

  const all = sequencesOf(turns.shift(10));
  assert.deepEqual(
    all.filter((sequence) => [1, 2, 4].includes(sequence)),
    [1, 2, 4],
  );
  assert.deepEqual(
    all.filter((sequence) => [3, 5].includes(sequence)),
    [3, 5],
  );
  assert.equal(turns.length, 0);
});

test("spellings of a service that differ only in case have one turn", () => {
  const turns = new ServiceTurns();
  turns.push([queued(1, "a"), queued(2, "A"), queued(3, "b")]);

  assert.ok(sequencesOf(turns.shift(2)).includes(3));
});

test("100,000 services with an event each have their turns, and one that comes later has its own", () => {
  const turns = new ServiceTurns();
  turns.push(Array.from({ length: 100_000 }, (_, at) => queued(at, `service${at}`)));
  const seen = new Set<number>();
  for (let round = 0; round < 100; round += 1)
    for (const sequence of sequencesOf(turns.shift(1000))) seen.add(sequence);

  assert.equal(seen.size, 100_000);
  assert.equal(turns.length, 0);
});

test("whoever joins and leaves, each has one turn before anyone has a second one", () => {
  const turns = new Turns<string>();
  for (const name of ["a", "b", "c", "d"]) turns.join(name);

  const first = [turns.next(), turns.next()];
  turns.leave();
  const rest = [turns.next(), turns.next()];

  assert.deepEqual(first, ["a", "b"]);
  assert.deepEqual([...rest].sort(), ["c", "d"]);
  assert.equal(turns.next(), "a");
  assert.equal(turns.size, 3);
});
