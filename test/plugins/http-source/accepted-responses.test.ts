import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { AcceptedResponses } from "../../../plugins/http-source/responder.js";

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
  const responses = new AcceptedResponses<(typeof senders)[number]>(({ name }, error) => told.push(name, error));

  for (const sender of senders) responses.add(sender);
  const atOnce = [...answered];
  await turn();

  assert.deepEqual(atOnce, []);
  assert.deepEqual(answered, ["first", "last"]);
  assert.deepEqual(told, ["gone", new Error("its answer was written already")]);
});
