import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { atBeginning, type LogPosition } from "../../core/log/log-position.js";
import { OwnParts } from "../../core/log/own-parts.js";
import type { LogPart } from "../../core/log/partitioned-log.js";
import { recordingLog } from "../support/recording-log.js";
import { oneEvent } from "./own-part.js";

const at = (offset: number): LogPosition => ({ ...atBeginning, offset, index: 0, events: offset + 1 });

/** An agent alone with one part; `bounds` says where the log ends, and may do something else meanwhile. */
function alone(bounds: () => number, first = 0, gapless = true) {
  const { log, lines } = recordingLog();
  const place = { stored: at(3), now: 0, share: [0], silent: [-1], changes: 0, prepared: Promise.resolve() };
  const said = (part: LogPart) => typeof part !== "number" || !place.silent.includes(part);
  const own: OwnParts = new OwnParts({
    log: { bounds: async (parts) => new Map(parts.filter(said).map((part) => [part, { first, next: bounds() }])) },
    partitions: 2,
    gapless,
    members: { share: () => new Set(place.share), worker: () => undefined, done: () => undefined, hasOthers: true },
    clocks: { now: () => new Date(0), steady: () => place.now },
    sessionMillis: 1000,
    stallMillis: 500,
    hasTaken: () => true,
    isHeard: () => true,
    stored: () => place.stored,
    prepared: () => place.prepared,
    resettle: () => void own.settle(),
    changed: () => {
      place.changes += 1;
    },
    logger: log,
  });
  return { own, place, lines };
}

test("what is appended and stored while an agent asks where a part ends is no error: it asks again", async () => {
  let asked = 0;
  const { own, place, lines } = alone(() => {
    asked += 1;
    if (asked > 1) return 7;
    place.stored = at(6);
    return 4;
  });

  await own.settle();
  const first = own.all.size;
  for (let turn = 0; turn < 10 && own.all.size === 0; turn += 1) await nextTurn();

  assert.deepEqual([first, own.all.get(0)?.queue.done.offset, asked], [0, 6, 2]);
  assert.deepEqual(lines, []);
});

test("a part that ends before what was known to be stored is an error, and is not read", async () => {
  const { own, lines } = alone(() => 2);

  await own.settle();
  for (let turn = 0; turn < 10; turn += 1) await nextTurn();

  assert.equal(own.all.size, 0);
  assert.deepEqual(
    lines.map(({ level, fields }) => [level, fields]),
    [["error", { partition: 0, stored: 3, next: 2 }]],
  );
});

test("a part of which records are gone that are not known to be stored is read when it stays so for a session, and they are lost", async () => {
  const { own, place } = alone(() => 20, 9);

  await own.settle();
  const first = own.all.size;
  place.now = 999;
  await own.settle();
  const second = own.all.size;
  const changes = [place.changes];
  place.now = 1000;
  await own.settle();

  assert.deepEqual([first, second, own.all.get(0)?.queue.lost], [0, 0, 5]);
  assert.deepEqual([...changes, place.changes], [0, 1], "only then the others are told");
});

test("records that are gone are not lost when it is heard that they were stored", async () => {
  const { own, place } = alone(() => 20, 9);

  await own.settle();
  place.stored = at(9);
  await own.settle();

  assert.equal(own.all.get(0)?.queue.lost, 0);
});

test("parts of which the log does not say what they hold are named and taken later, and the others are taken", async () => {
  const { own, place } = alone(() => 20);
  place.share = [0, 1];
  place.silent = [0];

  await assert.rejects(own.settle(), { code: "LOG_UNAVAILABLE", message: /^taking partition 0 of the log/ });
  const first = [...own.all.keys()];
  place.silent = [];
  await own.settle();

  assert.deepEqual([first, [...own.all.keys()], place.changes], [[1], [1, 0], 2]);
});

test("a part that comes back to an agent is waited for anew", async () => {
  const { own, place } = alone(() => 20, 9);

  await own.settle();
  place.share = [];
  await own.settle();
  place.now = 2000;
  place.share = [0];
  await own.settle();

  assert.equal(own.all.size, 0);
});

test("a part of which a record was passed over is kept with what is read of it, also while a take has some of that", async () => {
  const { own } = alone(() => 20, 0, false);
  await own.settle();
  const part = own.all.get(0);
  assert.ok(part !== undefined);
  const { queue } = part;
  queue.add({ from: 3, records: [oneEvent(5), oneEvent(8)] });
  queue.take(1);

  const waits = own.waitsFor(part, { from: 9, records: [{ ...oneEvent(9), follows: 7 }] });
  await own.settle();

  assert.equal(waits, true);
  assert.equal(own.all.get(0), part);
  assert.deepEqual([queue.next, queue.size, queue.waiting], [7, 1, 0]);
});

test("while dead letters of others cannot be taken over no part is taken, parts are given away, and later only the share of then is taken", async () => {
  const { own, place } = alone(() => 20);
  await own.settle();
  let resolve = () => {};
  place.prepared = new Promise((done) => {
    resolve = done;
  });
  place.share = [0, 1];
  const taking = own.settle();
  await nextTurn();
  const held = [[...own.all.keys()], own.isHeldUp(place.now)];

  place.now = 501;
  place.share = [1];
  const asked = own.settle();
  const given = [[...own.all.keys()], own.isHeldUp(place.now)];
  place.share = [0];
  resolve();
  await Promise.all([taking, asked]);

  assert.deepEqual(held, [[0], false]);
  assert.deepEqual(given, [[], true]);
  assert.deepEqual([[...own.all.keys()], own.isHeldUp(place.now)], [[0], false]);
});
