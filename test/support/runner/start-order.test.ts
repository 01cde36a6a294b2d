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

test("files of faults run after all others, and fewer of them at a time", () => {
  const planned = waves(["alerts/a.test.js", "crash/a.test.js", "plugins/kafka/a.test.js", "plugins/http/a.test.js"]);

  assert.deepEqual(planned, [
    { paths: ["crash/a.test.js", "plugins/http/a.test.js"], atOnce: 3 },
    { paths: ["alerts/a.test.js", "plugins/kafka/a.test.js"], atOnce: 2 },
  ]);
  assert.deepEqual(waves(["alerts/a.test.js"]), [{ paths: ["alerts/a.test.js"], atOnce: 2 }]);
  assert.deepEqual(waves([]), []);
});

test("the first files of a run are the longest of the repository, which are still there", async () => {
  const [first, last] = await testFiles([]);

  assert.match(first?.paths[0] ?? "", /deploy.deb\.test\.js$/);
  assert.match(first?.paths[1] ?? "", /deploy.image\.test\.js$/);
  assert.match(last?.paths[0] ?? "", /plugins.kafka.kafka-faults\.test\.js$/);
});
