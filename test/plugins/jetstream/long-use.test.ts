import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { heapUsed } from "../../support/heap-used.js";
import { never, sharedLog } from "./nats.js";

test("reads leave nothing in memory", async (context) => {
  const shared = await sharedLog(context);
  if (shared === undefined) return;
  const read = async (times: number) => {
    for (let time = 0; time < times; time += 1) {
      await shared.log.read(new Map(), { bytes: 1, waitMillis: 0 }, never());
      if (time % 100 === 0) await nextTurn();
    }
    return heapUsed();
  };

  const before = await read(1000);
  const grown = (await read(50_000)) - before;
  assert.ok(grown < 1_000_000, `${grown} bytes more after 50,000 reads`);
});
