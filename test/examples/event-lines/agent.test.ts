import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { sampleNotifications, testAgent } from "deneb/sdk/testing";
import plugin from "./index.js";

test("an agent stores each entity of a notification", async (context) => {
  const folder = await mkdtemp(join(tmpdir(), "event-lines-"));
  context.after(() => rm(folder, { recursive: true }));
  const file = join(folder, "lines.jsonl");
  const agent = await testAgent({ plugins: [plugin], config: { sinks: { mine: { type: "event-lines", file } } } });
  context.after(() => agent.stop());

  const { status } = await agent.inject(sampleNotifications.ld);
  await agent.settled();

  assert.equal(status, 200);
  assert.equal((await readFile(file, "utf8")).trim().split("\n").length, 2);
  assert.deepEqual(await agent.deadLetters(), []);
});
