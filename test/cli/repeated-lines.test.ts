import assert from "node:assert/strict";
import { test } from "node:test";
import { RepeatedLines } from "../../core/cli/repeated-lines.js";

function lines() {
  const printed: string[] = [];
  const clock = { now: 0 };
  const said = new RepeatedLines(
    (line) => printed.push(line),
    () => clock.now,
  );
  return { printed, clock, said };
}

test("a line that comes again within ten seconds is counted, and the next one says how often", () => {
  const { printed, clock, said } = lines();

  for (let at = 0; at < 1000; at += 1) said.say("a is full");
  said.say("b is full");
  clock.now = 9_999;
  said.say("a is full");
  clock.now = 10_000;
  said.say("a is full");
  clock.now = 20_000;
  said.say("a is full");

  assert.deepEqual(printed, ["a is full", "b is full", "a is full (1000 more times before)", "a is full"]);
});

test("lines that all differ are all printed, and few of them are kept", () => {
  const { printed, said } = lines();

  for (let at = 0; at < 1000; at += 1) said.say(`line ${at}`);
  said.say("line 999");
  said.say("line 0");

  assert.deepEqual([printed.length, printed.at(-1)], [1001, "line 0"]);
});
