import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import type { Family } from "../../../core/metrics/exposition.js";
import { answersKafka, NO_KAFKA } from "../../support/provided-kafka.js";
import { notificationRecord, runningSource } from "./running-source.js";
import { ownTopic } from "./topic-client.js";
import { begunTransaction } from "./transactions.js";

const skip = (await answersKafka()) ? false : NO_KAFKA;

const HELD_BACK =
  "a transaction that was not ended holds back a partition; it is read on when it is committed or aborted";

const records = (...numbers: readonly number[]) => numbers.map((n) => notificationRecord(n));

test("records of committed transactions are read in order with others, those of aborted ones are left out", {
  skip,
}, async (context) => {
  const { topic, make, write } = await ownTopic(context);
  await make(topic);
  await write(topic, 0, records(1));
  const aborted = await begunTransaction(context);
  await aborted.write(topic, 0, records(2, 3));
  await aborted.abort();
  const [one, other] = [await begunTransaction(context), await begunTransaction(context)];
  await one.write(topic, 0, records(4));
  await other.write(topic, 0, records(5));
  await one.write(topic, 0, records(6));
  await other.abort();
  await one.commit();
  await write(topic, 0, records(7));
  const config = { topics: [topic], group: topic };

  const first = await runningSource(context, { config });
  assert.deepEqual(await first.received(4), [1, 4, 6, 7]);
  await first.stop();
  await write(topic, 0, records(8));
  const second = await runningSource(context, { config });

  assert.deepEqual(await second.received(1), [8]);
});

test("a transaction that goes on holds its partition, which the source says, and no other one", {
  skip,
}, async (context) => {
  const { topic, make, write } = await ownTopic(context);
  await make(topic, 2);
  await write(topic, 0, records(1));
  const open = await begunTransaction(context);
  await open.write(topic, 0, records(2));
  await write(topic, 0, records(3));
  const config = { topics: [topic], group: topic, open_transaction_timeout: 1 };
  const { received, logged, reports, instruments, stop } = await runningSource(context, { config });
  const [line] = await logged(HELD_BACK);
  const degraded = reports.at(-1);
  const counted = instruments.exposed();
  await write(topic, 1, records(10));
  assert.deepEqual((await received(2)).toSorted(), [1, 10]);
  await open.commit();

  assert.deepEqual((await received(4)).slice(2), [2, 3]);
  assert.deepEqual(line?.fields, { topic, partitions: [0], offset: 1 });
  assert.deepEqual(degraded, {
    state: "degraded",
    reason: `a transaction that was not ended holds back partition 0 of topic "${topic}" from offset 1 on`,
  });
  const [again] = await logged("partitions are read again");
  assert.deepEqual(again?.fields, { topic, partitions: [0] });
  const series = `deneb_plugin_kafka_standing_partitions{component="kafka-source",topic="${topic}",cause="open-transaction"}`;
  assert.deepEqual(standing(counted), [`${series} 1`]);
  assert.deepEqual(standing(instruments.exposed()), [`${series} 0`]);
  await stop();
  assert.deepEqual(reports.at(-1), { state: "up" });
});

test("what was read of a transaction before it was aborted is not what a source that reads committed records begins with", {
  skip,
}, async (context) => {
  const { topic, make, write } = await ownTopic(context);
  await make(topic);
  const transaction = await begunTransaction(context);
  await transaction.write(topic, 0, records(1, 2));
  const config = { topics: [topic], group: topic };
  const first = await runningSource(context, { config: { ...config, isolation_level: "read_uncommitted" } });
  assert.deepEqual(await first.received(2), [1, 2]);
  await first.stop();
  const second = await runningSource(context, { config });
  await second.logged("reading");
  await transaction.write(topic, 0, records(3));
  await transaction.abort();
  await write(topic, 0, records(4));

  assert.deepEqual(await second.received(1), [4]);
  assert.ok(second.lines.every(({ level }) => level !== "error"));
});

test("with start = latest a source begins where the transactions that go on have begun", { skip }, async (context) => {
  const { topic, make, write } = await ownTopic(context);
  await make(topic);
  await write(topic, 0, records(1));
  const transaction = await begunTransaction(context);
  await transaction.write(topic, 0, records(2));
  const config = { topics: [topic], group: randomUUID(), start: "latest" } as const;
  const { logged, received } = await runningSource(context, { config });
  await logged("reading");

  await transaction.commit();

  assert.deepEqual(await received(1), [2]);
});

function standing(metrics: readonly Family[]): unknown {
  return metrics.find(({ name }) => name === "deneb_plugin_kafka_standing_partitions")?.lines;
}
