import assert from "node:assert/strict";
import test from "node:test";
import { SerialQueue } from "../../core/files/serial-queue.js";

test("functions run one at a time in the order of the calls, also after one that rejects", async () => {
  const queue = new SerialQueue();
  const steps: string[] = [];
  const step = async (name: string) => {
    steps.push(`${name} starts`);
    await new Promise(setImmediate);
    steps.push(`${name} ends`);
    if (name === "b") throw new Error(name);
    return name;
  };

  const results = await Promise.allSettled(["a", "b", "c"].map((name) => queue.run(() => step(name))));

  assert.deepEqual(
    results.map(({ status }) => status),
    ["fulfilled", "rejected", "fulfilled"],
  );
  assert.deepEqual(steps, ["a starts", "a ends", "b starts", "b ends", "c starts", "c ends"]);
});

test("idle waits for what was queued before, and does not reject", async () => {
  const queue = new SerialQueue();
  let ended = false;
  const run = queue.run(async () => {
    await new Promise(setImmediate);
    ended = true;
    throw new Error("no");
  });

  await Promise.all([queue.idle(), assert.rejects(run, /no/)]);

  assert.equal(ended, true);
});
