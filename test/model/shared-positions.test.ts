import { rm } from "node:fs/promises";
import { test } from "node:test";
import fc from "fast-check";
import { newFolder } from "./folders.js";
import { AGENTS, type AgentStep, SharedAgents } from "./shared-agents.js";

/** How many histories each of the two tests generates. */
const runs = Number(process.env["DENEB_TEST_HISTORIES"] ?? 20);
const given = process.env["DENEB_TEST_SEED"];

const agent = fc.integer({ min: 0, max: AGENTS - 1 });
const some = fc.integer({ min: 1, max: 9 });
const step: fc.Arbitrary<AgentStep> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant("take"), agent, events: some }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("write"), agent, halves: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("race"), agent, other: agent }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("rewind"), agent, events: some }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("break"),
      agent,
      when: fc.constantFrom("before", "after"),
      dies: fc.boolean(),
    }),
  },
);

async function holds(steps: readonly AgentStep[]): Promise<void> {
  const folder = await newFolder("deneb-shared-");
  const agents = new SharedAgents(folder);
  try {
    for (const one of steps) await agents.step(one);
    await agents.settle();
  } finally {
    await agents.end();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function check(seed: number): Promise<void> {
  const histories = fc.array(step, { minLength: 5, maxLength: 40, size: "max" });
  await fc.assert(fc.asyncProperty(histories, holds), { seed, numRuns: runs, includeErrorInReport: true });
}

const promise =
  "whatever several agents do with one partition, each event is one row, in order, and no position moves back";

test(`${promise}: the same histories each time`, async () => {
  await check(1);
});

test(`${promise}: other histories each time`, async (context) => {
  const seed = given === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(given);
  context.diagnostic(`DENEB_TEST_SEED=${seed}`);
  await check(seed);
});
