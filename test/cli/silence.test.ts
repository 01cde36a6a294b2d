import assert from "node:assert/strict";
import { test } from "node:test";
import type { Member } from "../../core/cli/workers/member.js";
import { looked } from "../../core/cli/workers/silence.js";

const process: Member["process"] = Object.create(null);

interface Case {
  readonly state: Member["state"];
  readonly grace: number;
  /** By the number of the look. */
  readonly found: Readonly<Record<number, string>>;
}

const cases: readonly Case[] = [
  { state: "running", grace: 30, found: { 10: "silent", 60: "too-long" } },
  { state: "silent", grace: 30, found: { 60: "too-long" } },
  { state: "stopping", grace: 30, found: { 30: "too-long" } },
  { state: "stopping", grace: 0, found: { 5: "too-long" } },
  { state: "starting", grace: 30, found: {} },
];

for (const { state, grace, found } of cases) {
  test(`a worker that is ${state} and does not report, with ${grace} seconds of grace, is found as ${JSON.stringify(found)}`, () => {
    const member = { state, process, looks: 0, isKilled: false };
    const seen: Record<number, string> = {};

    for (let look = 1; look <= 100 && !member.isKilled; look += 1) {
      const answer = looked(member, grace);
      if (answer !== undefined) seen[look] = answer;
      if (answer === "silent") member.state = "silent";
      member.isKilled = answer === "too-long";
    }

    assert.deepEqual(seen, found);
  });
}

test("a worker without a process is not looked at", () => {
  const member = { state: "restarting", process: undefined, looks: 0, isKilled: false } as const;

  assert.equal(looked(member, 30), undefined);
  assert.equal(member.looks, 0);
});
