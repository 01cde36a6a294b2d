import assert from "node:assert/strict";
import { test } from "node:test";
import type { OwnPart } from "../../core/log/own-parts.js";
import { StalledSinks } from "../../core/log/stalled-sinks.js";
import { oneEvent, ownPart } from "./own-part.js";

function waiting() {
  const own = ownPart();
  own.queue.add({ from: 0, records: [oneEvent(0), oneEvent(1)] });
  const parts = new Map<number, OwnPart>([[0, own]]);
  return { own, parts, sinks: new StalledSinks(1000) };
}

test("sinks that take nothing of what waits are stalled, also when their parts are gone, until one takes", () => {
  const { parts, sinks } = waiting();

  const seen = [0, 1000, 1001].map((now) => sinks.look(parts, now));
  const withoutParts = sinks.look(new Map(), 9000);
  sinks.asks();

  assert.deepEqual(seen, [false, false, true]);
  assert.deepEqual([withoutParts, sinks.look(new Map(), 9001)], [true, false]);
});

test("sinks that take and get nothing done are stalled until something is done", () => {
  const { own, parts, sinks } = waiting();
  sinks.asks();
  const taken = own.queue.take(2);
  sinks.took(own, 0);
  sinks.took(own, 900);

  const seen = [1000, 1001].map((now) => sinks.look(parts, now));
  own.queue.release(taken);
  sinks.getsOn(own);

  assert.deepEqual(seen, [false, true]);
  assert.equal(sinks.look(parts, 1002), false);
});

test("sinks for which nothing waits are not stalled, however long they do not take", () => {
  const sinks = new StalledSinks(1000);

  assert.deepEqual(
    [0, 99_000].map((now) => sinks.look(new Map([[0, ownPart()]]), now)),
    [false, false],
  );
});
