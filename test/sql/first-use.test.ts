import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { FirstUse } from "../../core/sql/features/first-use.js";
import { recordingLog } from "../support/recording-log.js";
import { until } from "../support/until.js";

const AWAY = "the database is unavailable; writes will be retried";
const AGAIN = "the database can be used again";

function scene(failures: number, other: Partial<ConstructorParameters<typeof FirstUse>[0]> = {}) {
  const { log, lines } = recordingLog();
  let left = failures;
  let tries = 0;
  const probe = async () => {
    tries += 1;
    left -= 1;
    if (left >= 0) throw new Error("away");
  };
  const store = new FirstUse({ probe, log, pauseMillis: 1, mostMillis: 1, ...other });
  return { store, tries: () => tries, said: () => lines.map(({ message }) => message) };
}

/** A try that waits until it is refused or ended. */
function unanswered() {
  const refusal = new AbortController();
  const probe = async (signal: AbortSignal) => {
    const ended = AbortSignal.any([refusal.signal, signal]);
    if (!ended.aborted) await once(ended, "abort");
    throw new Error("no answer");
  };
  return { refuse: () => refusal.abort(), probe };
}

test("a store that comes back is reported once, also when nothing is written", async (context) => {
  const { store, said, tries } = scene(3);
  context.after(() => store.stop());

  await store.begin();
  await until(
    async () => said(),
    (lines) => lines.includes(AGAIN),
  );
  store.works();

  assert.deepEqual(said(), [AWAY, AGAIN]);
  assert.equal(tries(), 4);
});

test("a write that succeeds before the next try reports it, and ends the tries", async (context) => {
  const { store, said } = scene(Number.POSITIVE_INFINITY);
  context.after(() => store.stop());

  await store.begin();
  store.works();
  store.works();

  assert.deepEqual(said(), [AWAY, AGAIN]);
});

test("a store that was never away is no news", async () => {
  const { store, said, tries } = scene(0);

  await store.begin();
  store.works();

  assert.deepEqual([said(), tries()], [[], 1]);
});

test("a start does not wait for a store that does not answer, and the log says so when its time is over", async (context) => {
  const { refuse, probe } = unanswered();
  const { store, said } = scene(0, { probe });
  context.after(() => store.stop());

  await store.begin();
  const before = said();
  refuse();
  await until(
    async () => said(),
    (lines) => lines.length > 0,
  );

  assert.deepEqual([before, said()], [[], [AWAY]]);
});

test("a write that succeeds while the first try still waits is no news, whatever comes of the try", async () => {
  const { refuse, probe } = unanswered();
  const { store, said } = scene(0, { probe });

  await store.begin();
  store.works();
  refuse();
  await store.stop();

  assert.deepEqual(said(), []);
});

test("a stop ends a try and the start that waits for it, and no try begins after it", async () => {
  const { probe } = unanswered();
  let tries = 0;
  const counted = (signal: AbortSignal) => {
    tries += 1;
    return probe(signal);
  };
  const { store, said } = scene(0, { probe: counted, mostMillis: 3_600_000 });

  const beginning = store.begin();
  await store.stop();
  await beginning;

  assert.deepEqual([said(), tries], [[], 1]);
});
