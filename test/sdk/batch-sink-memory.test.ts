import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { batchSink } from "../../core/sdk/index.js";
import { bytesLeftByEach } from "../support/heap-used.js";

test("writes leave nothing in memory", async () => {
  const sink = batchSink({ open: async () => 1, write: async () => undefined, close: async () => {} });
  await sink.start();

  const left = await bytesLeftByEach(20_000, async (times) => {
    for (let time = 0; time < times; time += 1) {
      await sink.persist({ events: [] }, new AbortController().signal);
      if (time % 100 === 0) await nextTurn();
    }
  });

  await sink.stop(AbortSignal.timeout(1000));
  assert.ok(left < 20, `${left} bytes more after each write`);
});
