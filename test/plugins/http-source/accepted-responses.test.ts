import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { AcceptedResponses } from "../../../plugins/http-source/accepted-responses.js";

test("a response that cannot be written is reported, and the others of its turn are written", async () => {
  const written: string[] = [];
  const senders = ["first", "gone", "last"].map((name) => ({
    name,
    accept: () => {
      if (name === "gone") throw new Error("its answer was written already");
      written.push(name);
    },
  }));
  const failed: unknown[] = [];
  const responses = new AcceptedResponses<(typeof senders)[number]>(({ name }, error) => failed.push(name, error));

  for (const sender of senders) responses.add(sender);
  const atOnce = [...written];
  await turn();

  assert.deepEqual(atOnce, []);
  assert.deepEqual(written, ["first", "last"]);
  assert.deepEqual(failed, ["gone", new Error("its answer was written already")]);
});
