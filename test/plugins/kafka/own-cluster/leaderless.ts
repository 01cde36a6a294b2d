import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { type TestContext, test } from "node:test";
import { examiner } from "../../../../core/agent/examination/examiner.js";
import { Directory } from "../../../../plugins/kafka/client/directory.js";
import { Producer } from "../../../../plugins/kafka/client/producer.js";
import { createTopics, readMetadata } from "../../../../plugins/kafka/client/topics.js";
import { until } from "../../../support/until.js";
import { findingsOf } from "../findings.js";
import { failureOf, never, ownLog } from "../own-log.js";
import { newSink } from "../running-sink.js";
import { newSource, notificationRecord, numberOf, runningSource } from "../running-source.js";
import { topicClient } from "../topic-client.js";
import { cluster, skip } from "./brokers.js";

const WITHOUT = "partitions without a leader are not read; the others are";

test("a source reads its other partitions while one has no leader at its start, says so, and begins it when it has", {
  skip,
}, async (context) => {
  const { topic, write, config } = await spreadTopic(context);
  for (const partition of [0, 1, 2]) await write(partition, partition);
  const leader = await cluster.leader(topic, 1);
  await leader.halt();
  await withoutLeader(topic, 1);

  const { received, logged, reports } = await runningSource(context, { config });
  const first = await received(2);
  const [line] = await logged(WITHOUT);
  const degraded = reports.at(-1);
  await write(0, 10);
  const others = await received(3);
  await leader.resume();
  const all = await received(4);

  assert.deepEqual(first.toSorted(), [0, 2]);
  assert.deepEqual(others.slice(2), [10]);
  assert.deepEqual(all.slice(3), [1]);
  assert.deepEqual(line?.fields, { topic, partitions: [1] });
  assert.deepEqual(degraded, { state: "degraded", reason: `partition 1 of topic "${topic}" has no leader` });
  await logged("partitions are read again");
  assert.deepEqual(reports.at(-1), { state: "up" });
  await cluster.whole();
});

test("a source reads its other partitions while one has lost its leader, says so, and goes on with it where it was", {
  skip,
}, async (context) => {
  const { topic, write, config } = await spreadTopic(context);
  const { received, logged, emitted, reports } = await runningSource(context, { config });
  for (const partition of [0, 1, 2]) await write(partition, partition);
  await received(3);

  const leader = await cluster.leader(topic, 2);
  await leader.halt();
  await write(0, 10);
  await received(4);
  await withoutLeader(topic, 2);
  await write(1, 11);
  const others = await received(5);
  await logged(WITHOUT);
  await leader.resume();
  await write(2, 12);

  await received(6);
  await logged("partitions are read again");
  assert.deepEqual(others.slice(3), [10, 11]);
  assert.deepEqual(emitted.map(numberOf).slice(5), [12]);
  assert.deepEqual(reports.at(-1), { state: "up" });
  await cluster.whole();
});

test("check finds the partitions of a topic that have no leader, for a source and for a sink", {
  skip,
}, async (context) => {
  const { topic, config } = await spreadTopic(context);
  const examines = examiner({ now: () => new Date() });
  const probesOf = () => ({
    source: newSource(config).source.probes(examines),
    sink: newSink({ bootstrap_servers: config.bootstrap_servers, topic }).probes(examines),
  });
  const findings = async () =>
    await Promise.all(Object.entries(probesOf()).map(([kind, probes]) => findingsOf(kind, probes)));
  const before = await findings();
  const leader = await cluster.leader(topic, 1);
  await leader.halt();
  await withoutLeader(topic, 1);

  const without = await findings();
  await leader.resume();
  await cluster.whole();

  const says = `warning: partition 1 of topic "${topic}" has no leader`;
  for (const found of before) assert.doesNotMatch(found.join("\n"), /leader/);
  for (const found of without) {
    const line = found.find((one) => one.startsWith(says));
    assert.match(line ?? found.join("\n"), /=> start the brokers that hold them/);
  }
});

test("a log says what its other partitions hold while one has no leader, removes records of those, also opened meanwhile, and is whole again with it", {
  skip,
}, async (context) => {
  const { topic, config } = await spreadTopic(context);
  const { bootstrap_servers } = config;
  const log = ownLog(
    context,
    { address: bootstrap_servers[0] ?? "" },
    { topic, bootstrap_servers, partitions: 3, request_timeout: 9000 },
  );
  await log.open(never());
  for (const part of [0, 1, 2]) for (const text of ["one", "two"]) await log.append(part, Buffer.from(text));
  const leader = await cluster.leader(topic, 1);
  await leader.halt();
  await withoutLeader(topic, 1);

  const without = await until(
    () => log.bounds([0, 1, 2]),
    (bounds) => bounds.size === 2,
  );
  const trimming = await failureOf(log.trim(new Map([0, 1, 2].map((part) => [part, 1]))));
  const trimmed = await log.bounds([0, 2]);
  const unknown = await failureOf(log.bounds([1]));
  const later = ownLog(context, { address: "" }, { topic, bootstrap_servers, partitions: 3, request_timeout: 9000 });
  const found = await findingsOf("log", later.probes(examiner({ now: () => new Date() })));
  await later.open(never());
  const { offset } = await later.append(0, Buffer.from("three"));
  await leader.resume();
  await cluster.whole();
  const whole = await log.bounds([0, 1, 2]);

  assert.deepEqual([...without.keys()].toSorted(), [0, 2]);
  for (const failure of [trimming, unknown]) {
    assert.equal(failure.code, "LOG_UNAVAILABLE");
    assert.match(failure.message, /partition 1 of topic "\S+" has no leader/);
  }
  assert.match(found.join("\n"), new RegExp(`warning: partition 1 of topic "${topic}" has no leader`));
  assert.equal(offset, 2);
  for (const part of [0, 2]) assert.deepEqual(trimmed.get(part), { first: 1, next: 2 });
  assert.deepEqual(whole.get(1), { first: 0, next: 2 });
});

/** A topic without copies, each broker leads one of its partitions. */
async function spreadTopic(context: TestContext) {
  const bootstrap_servers = [...cluster.bootstrap];
  const client = await topicClient({ bootstrap_servers });
  context.after(() => client.close());
  const topic = randomUUID();
  await createTopics(client.cluster, [{ name: topic, partitions: 3, replicas: 1, settings: {} }]);
  for (const partition of [0, 1, 2]) await cluster.leader(topic, partition);
  const write = async (partition: number, n: number): Promise<void> => {
    const directory = new Directory(client.cluster, await readMetadata(client.cluster, [topic]));
    await new Producer(client.cluster, directory).write({ topic, partition }, [notificationRecord(n)]);
  };
  return { topic, write, config: { bootstrap_servers, topics: [topic], group: topic } };
}

async function withoutLeader(topic: string, partition: number): Promise<void> {
  await until(
    () => Promise.all(cluster.brokers.map((broker) => cluster.partsOf(topic, broker))),
    (parts) => !parts.flat().includes(partition),
  );
}
