import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { tempFolder } from "../support/temp-folder.js";
import { until } from "../support/until.js";
import type { Setup } from "./model-agent.js";
import type { Mood } from "./model-store.js";
import { World } from "./world.js";

/** Histories that the model found, each with a fault that is mended. */
async function worldOf(context: TestContext, setup: Omit<Setup, "sinks">): Promise<World> {
  const world = new World({ ...setup, sinks: "single" }, await tempFolder(context));
  context.after(() => world.end());
  await world.start();
  return world;
}

async function openLetters({ agent }: World): Promise<readonly unknown[]> {
  const bodies: unknown[] = [];
  for await (const { event } of agent.letters.open()) bodies.push(event.body);
  return bodies;
}

test("what was stored of a batch is not stored again from the memory channel that takes over its events", async (context) => {
  const world = await worldOf(context, { channel: "memory", batchSize: 3 });
  world.store.script(["works", "works", "works", "works", "hangs"]);
  await world.step({ do: "put", events: 3, poison: 2, wait: true });
  await until(
    () => openLetters(world),
    (letters) => letters.length === 1,
  );

  await world.step({ do: "reload", channel: true, sinks: [], grace: 0, wait: true });
  await world.settle();

  assert.deepEqual(
    world.store.rows.map(({ id }) => id),
    [1, 3],
  );
  assert.deepEqual(await openLetters(world), [2]);
});

for (const [what, step] of [
  ["a stop", { do: "stop", grace: 0 }],
  ["a crash", { do: "crash", wait: true }],
  ["a reload of the channel", { do: "reload", channel: true, sinks: [], grace: 0, wait: true }],
] as const) {
  test(`an event that is a dead letter while the rest of its batch waits is not another one after ${what}`, async (context) => {
    const world = await worldOf(context, { channel: "file", batchSize: 2 });
    world.store.script(["works", "works", ...Array.from({ length: 1000 }, (): Mood => "refuses")]);
    await world.step({ do: "put", events: 2, poison: 1, wait: true });
    await until(
      () => openLetters(world),
      (letters) => letters.length === 1,
    );

    world.store.takesPoison = true;
    await world.step(step);
    await world.settle();

    assert.deepEqual(await openLetters(world), [1]);
    assert.deepEqual(
      world.store.rows.map(({ id }) => id),
      [2],
    );
  });
}

test("a dead letter whose replay was stored just before a crash is not stored again by the next replay", async (context) => {
  const world = await worldOf(context, { channel: "memory", batchSize: 1 });
  await world.step({ do: "put", events: 1, poison: 1, wait: true });
  await until(
    () => openLetters(world),
    (letters) => letters.length === 1,
  );

  await world.step({ do: "take poison" });
  await world.step({ do: "crash at a commit" });
  await world.step({ do: "replay" });
  await until(
    async () => world.agent.life.run,
    (run) => run === "run1",
  );
  const left = await openLetters(world);
  await world.settle();

  assert.deepEqual(left, [1]);
  assert.deepEqual(
    world.store.rows.map(({ id }) => id),
    [1],
  );
  assert.deepEqual(await openLetters(world), []);
});

test("of two sinks at a channel any may refuse or store a replayed letter: it is open once, then stored once", async (context) => {
  const world = new World({ channel: "memory", sinks: "two", batchSize: 1 }, await tempFolder(context));
  context.after(() => world.end());
  await world.start();
  await world.step({ do: "put", events: 1, poison: 1, wait: true });
  for (let replays = 0; replays < 6; replays += 1) {
    await world.settle();
    await world.step({ do: "replay" });
  }
  await world.settle();
  const refused = await openLetters(world);
  world.store.takesPoison = true;
  await world.step({ do: "replay" });
  await world.settle();

  assert.deepEqual(refused, [1]);
  assert.deepEqual(await openLetters(world), []);
  assert.equal(world.store.rows.length, 1);
});
