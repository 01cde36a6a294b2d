import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../../support/until.js";
import { type RunningWorker, runningTeam } from "./running-team.js";

const path = "/v1/admin/arrivals";

async function arrive(worker: RunningWorker | undefined, id: string): Promise<void> {
  worker?.arrivals.taker?.emitted("s1", [{ headers: {}, body: { id } }], Promise.resolve());
}

test("a sample is taken by all workers, read bit by bit, and ended in all", async (context) => {
  const { call, workers } = await runningTeam(context, { workers: [{}, {}] });
  const begun = await call("PUT", path, { body: JSON.stringify({ seconds: 60 }) });
  await arrive(workers[0], "a");
  await arrive(workers[1], "b");
  await arrive(workers[1], "c");
  await until(
    () => call("GET", path),
    ({ body }) => body.arrivals.length === 3,
  );

  const first = await call("GET", `${path}?limit=2`);
  const second = await call("GET", `${path}?limit=2&after=${first.body.last}`);
  const third = await call("GET", `${path}?after=${second.body.last}`);
  const whole = await call("GET", `${path}?after=${begun.body.last}`);
  const ended = await call("DELETE", path);
  const after = await call("GET", path);

  assert.deepEqual([begun.body.on, begun.body.arrivals], [true, []]);
  assert.deepEqual([first.body.arrivals.length, second.body.arrivals.length, third.body.arrivals.length], [2, 1, 0]);
  const numbers = [...first.body.arrivals, ...second.body.arrivals].map(({ seq }: { readonly seq: number }) => seq);
  assert.deepEqual(numbers.toSorted(), [1_000_000_001, 2_000_000_001, 2_000_000_002]);
  assert.equal(whole.body.arrivals.length, 3);
  assert.deepEqual(whole.body.seen, { accepted: 3, refused: 0 });
  assert.deepEqual([ended.body.on, after.body.on, after.body.arrivals], [false, false, []]);
});

test("of a worker that was started again all that it has is shown", async (context) => {
  const { call, workers, change } = await runningTeam(context, { workers: [{}, {}] });
  await call("PUT", path);
  await arrive(workers[1], "a");
  const { body } = await until(
    () => call("GET", path),
    (answer) => answer.body.arrivals.length === 1,
  );

  const nothing = await call("GET", `${path}?after=${body.last}`);
  change(2, { pid: 77 });
  const again = await call("GET", `${path}?after=${body.last}`);

  assert.deepEqual([nothing.body.arrivals.length, again.body.arrivals.length], [0, 1]);
});

test("a place that no answer gave is refused, and a read token reads nothing", async (context) => {
  const tokens = { read: ["r"], admin: ["t"] };
  const { call } = await runningTeam(context, { access: { tokens }, workers: [{}] });

  const wrong = await call("GET", `${path}?after=soon`, { headers: { authorization: "Bearer t" } });
  const read = await call("GET", path, { headers: { authorization: "Bearer r" } });
  const ofOne = await call("GET", `/workers/1${path}`, { headers: { authorization: "Bearer r" } });

  assert.deepEqual([wrong.status, read.status, ofOne.status], [400, 403, 403]);
});
