import assert from "node:assert/strict";
import test from "node:test";
import { startOrder, waves } from "./start-order.js";
import { testFiles } from "./test-files.js";

test("files of slow places start first, one place after another, then one of each other folder in turn", () => {
  const paths = [
    "sql/b.test.js",
    "agent/b.test.js",
    "agent/a.test.js",
    "agent/c.test.js",
    "sql/c.test.js",
    "crash/b.test.js",
    "crash/a.test.js",
    "deploy/image.test.js",
  ];

  const order = startOrder(paths);

  assert.deepEqual(order, [
    "deploy/image.test.js",
    "crash/a.test.js",
    "crash/b.test.js",
    "agent/a.test.js",
    "sql/b.test.js",
    "agent/b.test.js",
    "sql/c.test.js",
    "agent/c.test.js",
  ]);
});

test("files of faults run after all others, beside each other alone", () => {
  const planned = waves(["alerts/a.test.js", "crash/a.test.js", "plugins/kafka/a.test.js", "plugins/http/a.test.js"]);

  assert.deepEqual(planned, [
    ["crash/a.test.js", "plugins/http/a.test.js"],
    ["alerts/a.test.js", "plugins/kafka/a.test.js"],
  ]);
  assert.deepEqual(waves(["alerts/a.test.js"]), [["alerts/a.test.js"]]);
  assert.deepEqual(waves([]), []);
});

test("the first files of a run are the longest of the repository, which are still there", async () => {
  const [first, last] = await testFiles([]);

  assert.match(first?.[0] ?? "", /deploy.deb\.test\.js$/);
  assert.match(first?.[1] ?? "", /deploy.image\.test\.js$/);
  assert.match(last?.[0] ?? "", /plugins.kafka.kafka-faults\.test\.js$/);
});
