import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { batchSink } from "../../core/sdk/index.js";
import { heapUsed } from "../support/heap-used.js";

test("writes leave nothing in memory", async () => {
  const sink = batchSink({ open: async () => 1, write: async () => undefined, close: async () => {} });
  await sink.start();
  const write = async (times: number) => {
    for (let time = 0; time < times; time += 1) {
      await sink.persist({ events: [] }, new AbortController().signal);
      if (time % 100 === 0) await nextTurn();
    }
    return heapUsed();
  };

  const before = await write(1000);
  const grown = (await write(50_000)) - before;
  await sink.stop(AbortSignal.timeout(1000));
  assert.ok(grown < 1_000_000, `${grown} bytes more after 50,000 writes`);
});
