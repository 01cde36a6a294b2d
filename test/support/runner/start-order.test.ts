import assert from "node:assert/strict";
import test from "node:test";
import { lanes, startOrder } from "./start-order.js";
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

test("files of faults run one after another beside the others, those of Kafka beside those of other servers", () => {
  const ofKafka = ["plugins/kafka/a.test.js", "plugins/kafka/b.test.js"];
  const ofServers = ["alerts/a.test.js", "plugins/jetstream/a.test.js"];
  const others = ["crash/a.test.js", "plugins/http/a.test.js"];

  assert.deepEqual(lanes([...ofServers, ...others, ...ofKafka]), [
    { files: others, atOnce: 3 },
    { files: ofKafka, atOnce: 1 },
    { files: ofServers, atOnce: 1 },
  ]);
  assert.deepEqual(lanes([...ofServers, ...ofKafka]), [
    { files: ofKafka, atOnce: 1 },
    { files: ofServers, atOnce: 1 },
  ]);
});

test("files of one lane alone run several at a time", () => {
  for (const files of [
    ["alerts/a.test.js", "plugins/jetstream/a.test.js"],
    ["crash/a.test.js", "plugins/http/a.test.js"],
  ])
    assert.deepEqual(lanes(files), [{ files, atOnce: 3 }]);
});

test("the first files of a run are the longest of the repository, which are still there", async () => {
  const [others, ofFaults] = await testFiles([]);

  assert.match(others?.files[0] ?? "", /deploy.deb\.test\.js$/);
  assert.match(others?.files[1] ?? "", /deploy.image\.test\.js$/);
  assert.match(ofFaults?.files[0] ?? "", /plugins.kafka.cluster-agents\.test\.js$/);
});
