import assert from "node:assert/strict";
import test from "node:test";
import { startOrder } from "./start-order.js";
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

test("the first files of a run are the longest of the repository, which are still there", async () => {
  const files = await testFiles([]);

  assert.match(files[0] ?? "", /deploy.deb\.test\.js$/);
  assert.match(files[1] ?? "", /deploy.image\.test\.js$/);
});
