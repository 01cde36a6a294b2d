import assert from "node:assert/strict";
import { test } from "node:test";
import { type Counted, RowCheck } from "./rows.js";
import { someLoad } from "./some-load.js";

const system = (received: number, rows: number, agent = true): Counted => ({
  store: { countRows: async () => rows },
  ledger: agent ? async () => ({ received, stored: received }) : undefined,
});

const cases = [
  { title: "every event is a row", of: system(100, 100), expected: 100, found: 100, doubled: 0 },
  { title: "a request that was broken off came in", of: system(103, 103), expected: 103, found: 103, doubled: 0 },
  { title: "a row stands twice", of: system(103, 104), expected: 103, found: 104, doubled: 1 },
  {
    title: "nobody can be asked, broken off came in",
    of: system(0, 103, false),
    expected: 100,
    found: 103,
    doubled: 0,
  },
  { title: "nobody can be asked, a row too many", of: system(0, 105, false), expected: 100, found: 105, doubled: 1 },
] as const;

for (const { title, of, expected, found, doubled } of cases)
  test(`rows are counted when ${title}`, async () => {
    const check = new RowCheck(of, 1);
    check.add(60);
    check.add(40, 4);

    assert.deepEqual(await check.settled(), { expected, found, doubled });
  });

test("a row that is missing is an error with both numbers", async () => {
  const check = new RowCheck(system(100, 99), 1);
  check.add(100);

  await assert.rejects(check.settled(), /100 rows were accepted, and only 99 are there/);
});

test("an agent that counts less than was answered 200 is an error", async () => {
  const check = new RowCheck(system(99, 99), 1);
  check.add(100, 4);

  await assert.rejects(check.settled(), /100 to 104 events were accepted, and the agent counts 99/);
});

test("in the row layout an event has the rows of its attributes", async () => {
  const check = new RowCheck(system(10, 80), 8);
  check.add(10);

  assert.deepEqual(await check.settled(), { expected: 80, found: 80, doubled: 0 });
});

test("of requests that hold different numbers of events, any of them may have been accepted", async () => {
  const load = { ...someLoad, accepted: 2, unanswered: 1 };
  const least = new RowCheck(system(0, 0), 1);
  const most = new RowCheck(system(9, 9), 1);
  const more = new RowCheck(system(10, 10), 1);
  for (const check of [least, most, more]) check.addLoad(load, { fewest: 0, most: 3 });

  assert.deepEqual(await least.settled(), { expected: 0, found: 0, doubled: 0 });
  assert.deepEqual(await most.settled(), { expected: 9, found: 9, doubled: 0 });
  await assert.rejects(more.settled(), /0 to 9 events were accepted, and the agent counts 10/);
});
