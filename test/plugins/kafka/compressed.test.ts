import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import type { KafkaCluster } from "../../../plugins/kafka/client/cluster.js";
import { loadLibrary } from "../../../plugins/kafka/client/library.js";
import { answersKafka, kafkaOfTests, NO_KAFKA } from "../../support/provided-kafka.js";
import { until } from "../../support/until.js";
import { failureOf, never, ownLog, recordsOf, textsOf } from "./own-log.js";
import { notificationRecord, runningSource } from "./running-source.js";
import { ownTopic } from "./topic-client.js";

const skip = (await answersKafka()) ? false : NO_KAFKA;
const readsZstd = (await loadLibrary()).compressionsAlgorithms.zstd.available;
/** Numbers of the protocol. */
const TOPIC = 2;
const SET = 0 as const;
const withoutZstd = readsZstd ? "needs a Node.js that cannot read zstd, older than 22.15" : skip;

const withZstd = readsZstd ? skip : "needs a Node.js that reads zstd, 22.15 or later";

for (const compression of ["gzip", "snappy", "lz4", "zstd"])
  test(`a source reads what brokers keep compressed with ${compression}`, {
    skip: compression === "zstd" ? withZstd : skip,
  }, async (context) => {
    const { topic, make, write } = await ownTopic(context);
    await make(topic, 1, { "compression.type": compression });
    const numbers = Array.from({ length: 50 }, (_, n) => n);
    await write(
      topic,
      0,
      numbers.map((n) => notificationRecord(n)),
    );

    const { received } = await runningSource(context, { config: { topics: [topic], group: randomUUID() } });

    assert.deepEqual(await received(numbers.length), numbers);
  });

test("records that cannot be decoded hold up their own partition only, and the source says which and why", {
  skip: withoutZstd,
}, async (context) => {
  const { topic, make, write } = await ownTopic(context, "-zstd");
  const zstd = `${topic}-zstd`;
  await make(topic);
  await make(zstd, 1, { "compression.type": "zstd" });
  await write(zstd, 0, [notificationRecord(0)]);
  await write(topic, 0, [notificationRecord(1)]);

  const config = { topics: [topic, zstd], group: randomUUID() };
  const { received, logged, lines, reports, emitted } = await runningSource(context, { config });
  await received(1);
  const [line] = await logged("partitions with records that cannot be decoded are not read; the others are");
  await write(topic, 0, [notificationRecord(2)]);

  assert.deepEqual(await received(2), [1, 2]);
  const reason = `reading partition 0 of topic "${zstd}": the records from offset 0 on are compressed with zstd, which takes Node.js 22.15 or later`;
  assert.deepEqual(line?.fields, { topic: zstd, reason, partitions: [0] });
  assert.deepEqual(reports.at(-1), { state: "degraded", reason });
  assert.deepEqual([emitted.length, lines.filter(({ level }) => level === "warn").length], [2, 1]);
});

test("a log is not kept in a topic whose records this Node.js cannot read", { skip: withoutZstd }, async (context) => {
  const { topic, make } = await ownTopic(context, ".agents", ".letters");
  await make(topic, 2, { "compression.type": "zstd" });

  const log = ownLog(context, { address: kafkaOfTests() }, { topic });
  const failure = await failureOf(log.open(never()));

  assert.deepEqual([failure.code, failure.retryable], ["LOG_SETTINGS", false]);
  assert.match(failure.message, /compression\.type = zstd, which this Node\.js, v.* cannot read; run Node\.js 22\.15/);
});

test("a log is kept in a topic that is compressed with zstd", { skip: withZstd }, async (context) => {
  const { topic, make } = await ownTopic(context, ".agents", ".letters");
  await make(topic, 2, { "compression.type": "zstd" });
  const log = ownLog(context, { address: kafkaOfTests() }, { topic });
  await log.open(never());
  await log.append(0, Buffer.from("compressed by the broker"));

  const records = await recordsOf(log, 0);

  assert.deepEqual(textsOf(records), ["compressed by the broker"]);
});

test("a read of a log fails with the reason where there is nothing but records that cannot be decoded", {
  skip: withoutZstd,
}, async (context) => {
  const { topic, make, cluster } = await ownTopic(context, ".agents", ".letters");
  await make(topic, 2);
  const log = ownLog(context, { address: kafkaOfTests() }, { topic });
  await log.open(never());
  await compressesWithZstd(cluster, topic);

  // The broker writes with its setting of before for a while.
  const readAppended = async () => {
    const { offset } = await log.append(0, Buffer.from("compressed by the broker"));
    return await log.read(new Map([[0, offset]]), { bytes: 1_000_000, waitMillis: 100 }, never());
  };
  const failure = await until(
    async () =>
      await readAppended().then(
        () => undefined,
        (error: unknown) => error,
      ),
    (error) => error !== undefined,
  );

  assert.match(String(failure), /are compressed with zstd/);
});

async function compressesWithZstd(cluster: KafkaCluster, resourceName: string): Promise<void> {
  const configs = [{ name: "compression.type", value: "zstd", configOperation: SET }];
  await cluster.askAny(
    async (line, { incrementalAlterConfigsV1: { api } }) =>
      await api.async(line, [{ resourceType: TOPIC, resourceName, configs }], false),
  );
}
