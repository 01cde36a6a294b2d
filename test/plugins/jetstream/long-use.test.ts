import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { queryObjects } from "node:v8";
import { bytesLeftByEach } from "../../support/heap-used.js";
import { never, sharedLog } from "./nats.js";

test("questions to consumers leave nothing in memory while their connection is open", async (context) => {
  const shared = await sharedLog(context, 1);
  if (shared === undefined) return;
  await shared.log.append(0, Buffer.from("one"));
  const measure = async (times: number) => {
    for (let time = 0; time < times; time += 1) await shared.log.bounds([0]);
    return Number(queryObjects(Promise, { format: "count" }));
  };

  const before = await measure(10);
  const grown = (await measure(300)) - before;
  assert.ok(grown < 100, `${grown} promises more after 300 questions`);
});

test("reads leave nothing in memory", async (context) => {
  const shared = await sharedLog(context);
  if (shared === undefined) return;

  const left = await bytesLeftByEach(20_000, async (times) => {
    for (let time = 0; time < times; time += 1) {
      await shared.log.read(new Map(), { bytes: 1, waitMillis: 0 }, never());
      if (time % 100 === 0) await nextTurn();
    }
  });

  assert.ok(left < 20, `${left} bytes more after each read`);
});
