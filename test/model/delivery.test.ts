import { rm } from "node:fs/promises";
import { test } from "node:test";
import fc from "fast-check";
import { newFolder } from "./folders.js";
import { type History, histories } from "./steps.js";
import { World } from "./world.js";

/** How many histories each of the two tests generates. */
const runs = Number(process.env["DENEB_TEST_HISTORIES"] ?? 60);
const given = process.env["DENEB_TEST_SEED"];

async function holds({ setup, steps }: History): Promise<void> {
  const folder = await newFolder("deneb-model-");
  const world = new World(setup, folder);
  try {
    await world.start();
    for (const step of steps) await world.step(step);
    await world.settle();
    if (world.isOrdered) world.accounts.checkOrder(world.store);
    await world.restart();
  } finally {
    await world.end();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function check(seed: number): Promise<void> {
  await fc.assert(fc.asyncProperty(histories, holds), { seed, numRuns: runs, includeErrorInReport: true });
}

const promise = "whatever happens, each accepted event ends once, as a row or as a dead letter";

test(`${promise}: the same histories each time`, async () => {
  await check(1);
});

test(`${promise}: other histories each time`, async (context) => {
  const seed = given === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(given);
  context.diagnostic(`DENEB_TEST_SEED=${seed}`);
  await check(seed);
});
