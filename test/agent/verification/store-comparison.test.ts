import assert from "node:assert/strict";
import { test } from "node:test";
import { judged } from "../../../core/agent/verification/store-comparison.js";

const quiet = { letters: 0, sinks: ["k"] };
const ofTwo = { events: 0, stored: 0, loose: false, sinks: ["k", "other"] };

test("a comparison that begins while events move finds nothing when these are in the ledger, too", () => {
  const { base, store: first } = judged(ofTwo, { ...quiet, events: 105, before: 100, after: 110 });

  const { store } = judged(base, { ...quiet, events: 110, before: 110, after: 110 });

  assert.deepEqual([first.difference, store.difference], [0, 0]);
});

test("a comparison that began while events moved finds fewer and more than can be", () => {
  const { base } = judged(ofTwo, { ...quiet, events: 105, before: 100, after: 110 });

  const fewer = judged(base, { ...quiet, events: 104, before: 110, after: 110 });
  const more = judged(base, { ...quiet, events: 116, before: 110, after: 110 });

  assert.deepEqual([fewer.store.difference, more.store.difference], [-1, 1]);
});

test("a comparison that began while events moved is exact once nothing moves", () => {
  const { base: moving } = judged(ofTwo, { ...quiet, events: 105, before: 100, after: 110 });
  const { base } = judged(moving, { ...quiet, events: 110, before: 110, after: 110 });

  const fewer = judged(base, { ...quiet, events: 119, before: 120, after: 120 });

  assert.equal(fewer.store.difference, -1);
});

test("the sinks are noted at the first comparison, and a shortage is none of another one later", () => {
  const { base } = judged({ events: 0, stored: 0, loose: false }, { ...quiet, events: 5, before: 5, after: 5 });

  const removed = judged(base, { letters: 0, sinks: ["next"], events: 0, before: 5, after: 5 });

  assert.deepEqual(base.sinks, ["k"]);
  assert.equal(removed.store.difference, 0);
  assert.equal(removed.note, "its sinks are next, where they were k; the comparison begins now");
});
