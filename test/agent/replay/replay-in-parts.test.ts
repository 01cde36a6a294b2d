import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { DEAD_LETTER_REPLAY, DEAD_LETTERS } from "../../../core/agent/container.js";
import type { DeadLetter } from "../../../core/pipeline/dead-letters/dead-letters.js";
import { runningManagement } from "../../support/running-management.js";
import { ScriptedSink } from "../../support/scripted-sink.js";
import { until } from "../../support/until.js";

const letter = (n: number, length: number): DeadLetter => ({
  id: `letter-${n}`,
  time: "2026-01-15T10:00:00.000Z",
  sink: "k1",
  reason: "permanent",
  message: "no column takes this value",
  attempts: 1,
  event: { headers: {}, body: { n, text: "x".repeat(length) } },
});

/** Replays letters of these lengths by a memory channel that holds so many bytes. */
async function replayed(context: TestContext, lengths: readonly number[], byteCapacity: number) {
  const sink = new ScriptedSink();
  const channel = { byteCapacity, byteCapacityBufferPercentage: 0, "keep-alive": 5 };
  const { container } = await runningManagement(context, { sink, channel });
  const letters = container.resolve(DEAD_LETTERS);
  await letters.keep(lengths.map((length, n) => letter(n, length)));
  const result = await container.resolve(DEAD_LETTER_REPLAY).replay({});
  const left = lengths.length - result.replayed;
  await until(
    async () => letters.counts()[0],
    (counts) => (counts?.replaying ?? 0) === 0 && counts?.waiting === left,
  );
  return { ...result, stored: sink.stored.length };
}

test("letters that do not fit into the channel together are replayed in parts", async (context) => {
  const { stored, refusals, replayed: count } = await replayed(context, [600, 600, 600, 600, 600], 1500);

  assert.deepEqual({ stored, count, refusals }, { stored: 5, count: 5, refusals: [] });
});

test("a letter that the channel could never hold stays, and those beside it are replayed", async (context) => {
  const { stored, refusals } = await replayed(context, [600, 9000, 600], 1500);

  assert.equal(stored, 2);
  assert.deepEqual(
    refusals.map(({ letters, retryable }) => [letters, retryable]),
    [[1, false]],
  );
});
