import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { Acceptances } from "../../../plugins/http-source/acceptances.js";

test("an answer that cannot be written is told, and the others of its turn are written", async () => {
  const answered: string[] = [];
  const senders = ["first", "gone", "last"].map((name) => ({
    name,
    accept: () => {
      if (name === "gone") throw new Error("its answer was written already");
      answered.push(name);
    },
  }));
  const told: unknown[] = [];
  const acceptances = new Acceptances<(typeof senders)[number]>(({ name }, error) => told.push(name, error));

  for (const sender of senders) acceptances.add(sender);
  const atOnce = [...answered];
  await turn();

  assert.deepEqual(atOnce, []);
  assert.deepEqual(answered, ["first", "last"]);
  assert.deepEqual(told, ["gone", new Error("its answer was written already")]);
});
