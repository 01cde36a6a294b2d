import assert from "node:assert/strict";
import { test } from "node:test";
import { StoreReturn } from "../../core/sql/features/store-return.js";
import { recordingLog } from "../support/recording-log.js";
import { until } from "../support/until.js";

const AGAIN = "the database can be used again";

function scene(failures: number) {
  const { log, lines } = recordingLog();
  let left = failures;
  let tries = 0;
  const probe = async () => {
    tries += 1;
    left -= 1;
    if (left >= 0) throw new Error("away");
  };
  const store = new StoreReturn({ probe, log, pauseMillis: 1 });
  return { store, tries: () => tries, said: () => lines.map(({ message }) => message) };
}

test("a store that comes back is reported once, also when nothing is written", async (context) => {
  const { store, said, tries } = scene(3);
  context.after(() => store.stop());

  store.away();
  await until(
    async () => said(),
    (lines) => lines.length > 0,
  );
  store.works();

  assert.deepEqual(said(), [AGAIN]);
  assert.equal(tries(), 4);
});

test("a write that succeeds before the next try reports it, and ends the tries", async (context) => {
  const { store, said } = scene(Number.POSITIVE_INFINITY);
  context.after(() => store.stop());

  store.away();
  store.works();
  store.works();

  assert.deepEqual(said(), [AGAIN]);
});

test("a store that was never away is no news", () => {
  const { store, said } = scene(0);

  store.works();

  assert.deepEqual(said(), []);
});

test("a stop ends the tries, and nothing begins after it", async () => {
  const { store, said, tries } = scene(Number.POSITIVE_INFINITY);

  store.away();
  await until(
    async () => tries(),
    (count) => count > 0,
  );
  await store.stop();
  const before = tries();
  store.away();
  await store.stop();

  assert.equal(tries(), before);
  assert.deepEqual(said(), []);
});
