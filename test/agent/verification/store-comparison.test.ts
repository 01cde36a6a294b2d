import assert from "node:assert/strict";
import { test } from "node:test";
import { judged } from "../../../core/agent/verification/store-comparison.js";

const of = { channel: "c1", sinks: { k: "postgresql db:5432 history" } };
const quiet = { letters: 0, of };
const ofTwo = { events: 1000, stored: 0, loose: false, of: { ...of, sinks: { ...of.sinks, other: "sqlite" } } };

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

test("what is compared is noted at the first comparison, and a shortage is none of another store later", () => {
  const { base } = judged({ events: 0, stored: 0, loose: false }, { ...quiet, events: 5, before: 5, after: 5 });

  assert.deepEqual(base.of, of);
  for (const { now, says } of [
    { now: { ...of, sinks: { next: "sqlite" } }, says: "its sinks are next, where they were k" },
    { now: { ...of, channel: "c2" }, says: "its id is c2, where it was c1" },
    {
      now: { ...of, sinks: { k: "mysql db:3306" } },
      says: 'sink "k" counts in mysql db:3306, where it counted in postgresql db:5432 history',
    },
    {
      now: { ...of, sinks: { k: "" } },
      says: 'sink "k" counts in no known place, where it counted in postgresql db:5432 history',
    },
  ]) {
    const changed = judged(base, { letters: 0, of: now, events: 0, before: 5, after: 5 });
    const short = judged(changed.base, { letters: 0, of: now, events: 0, before: 6, after: 6 });

    assert.equal(changed.note, `${says}: its stores hold 0 events of 5; the comparison begins now`);
    assert.deepEqual([changed.store.difference, short.store.difference, short.note], [0, -1, undefined]);
  }
});

test("a comparison goes on where another store holds what the one before held", () => {
  const { base } = judged({ events: 0, stored: 0, loose: false }, { ...quiet, events: 5, before: 5, after: 5 });
  const moved = { ...of, sinks: { k: "postgresql other:5432 history" } };

  const restored = judged({ ...base, left: 4 }, { letters: 0, of: moved, events: 5, before: 5, after: 5 });
  const short = judged(restored.base, { letters: 0, of: moved, events: 5, before: 6, after: 6 });

  assert.deepEqual([restored.note, restored.base], [undefined, { ...base, of: moved }]);
  assert.equal(short.store.difference, -1);
});

test("what other stores counted for a time is no shortage", () => {
  const base = { events: 5, stored: 5, loose: false, of, left: 5 };

  const { store, note } = judged(base, { ...quiet, events: 5, before: 8, after: 8 });

  assert.equal(store.difference, 0);
  assert.equal(
    note,
    "for a time its stores did not count, or other ones did: its stores hold 5 events of 8; the comparison begins now",
  );
});
