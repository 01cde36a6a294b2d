import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { cp, rm } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type Event, originHeader } from "../../../../core/sdk/index.js";
import { readMetadata } from "../../../../plugins/kafka/client/topics.js";
import { until } from "../../../support/until.js";
import { notificationRecord, numberOf, runningSource } from "../running-source.js";
import { type TopicClient, topicClient } from "../topic-client.js";
import { kafka, skip } from "./broker.js";

const LOST =
  "the brokers have lost records of the partition that were read; reading goes on where they end, with those that got their offsets";

/** Up to 3.9 a broker that comes back leads on in the same epoch, and nobody can tell its new records from the lost ones. */
const KEEPS_EPOCH = "this Kafka keeps the epoch of a leader that was killed";

/** Within this time a broker that is back says in which epoch it leads. */
const EPOCH_MILLIS = 5000;

const records = (...numbers: readonly number[]) => numbers.map((n) => notificationRecord(n));

test("a running source reads the records that got the offsets of lost ones, and a channel that agents share keeps them", {
  skip,
}, async (context) => {
  const { topic, config, write, lose } = await losingTopic(context);
  const { received, logged, emitted } = await runningSource(context, { config });
  await received(4);

  if (!(await lose())) return context.skip(KEEPS_EPOCH);
  await write(topic, 1, records(12, 13, 14, 15, 16));

  await until(
    async () => emitted.map(numberOf),
    (numbers) => numbers.at(-1) === 16,
  );
  assert.deepEqual(kept(emitted).map(numberOf), [0, 1, 2, 3, 12, 13, 14, 15, 16]);
  const [line] = await logged(LOST);
  assert.deepEqual(line?.fields, { topic, partition: 1, from: 4, to: 2 });
});

test("a source that begins when the partition is longer again than it was goes on where the lost records were", {
  skip,
}, async (context) => {
  const { topic, config, write, lose } = await losingTopic(context);
  const first = await runningSource(context, { config });
  await first.received(4);
  await first.stop();
  if (!(await lose())) return context.skip(KEEPS_EPOCH);
  await write(topic, 1, records(12, 13, 14, 15, 16));

  const second = await runningSource(context, { config });
  assert.deepEqual(await second.received(5), [12, 13, 14, 15, 16]);
  await second.stop();
  await write(topic, 1, records(17));
  const third = await runningSource(context, { config });

  assert.deepEqual(await third.received(1), [17]);
  const all = [first, second, third].flatMap(({ emitted }) => emitted);
  assert.deepEqual(kept(all).map(numberOf), [0, 1, 2, 3, 12, 13, 14, 15, 16, 17]);
  await second.logged(LOST);
  assert.ok(third.lines.every(({ message }) => message !== LOST));
});

/** What a channel that agents share keeps: of each part what is beyond the last one. */
function kept(events: readonly Event[]): readonly Event[] {
  const last = new Map<string, number>();
  return events.filter(({ headers }) => {
    const [, of = "", offset] = /^(.+):(\d+)\+0$/.exec(headers[originHeader] ?? "") ?? [];
    if (Number(offset) <= (last.get(of) ?? -1)) return false;
    last.set(of, Number(offset));
    return true;
  });
}

/** A topic with four records, of which the broker can lose the last two, as one whose disk was restored. */
async function losingTopic(context: TestContext) {
  const bootstrap_servers = [kafka.address];
  const client = await topicClient({ bootstrap_servers });
  context.after(() => client.close());
  const topic = randomUUID();
  await client.make(topic, 2);
  await client.write(topic, 1, records(0, 1));
  const [files, copy] = [join(kafka.data, `${topic}-1`), join(kafka.data, "..", `${topic}-1`)];
  await cp(files, copy, { recursive: true });
  await client.write(topic, 1, records(2, 3));
  const epoch = async () => (await readMetadata(client.cluster, [topic])).topics.get(topic)?.partitions[1]?.epoch;
  /** Resolves with whether the partition is led in another epoch then. */
  const lose = async (): Promise<boolean> => {
    const before = await epoch();
    await kafka.halt();
    await rm(files, { recursive: true });
    await cp(copy, files, { recursive: true });
    await kafka.resume();
    return await until(epoch, (now) => now !== undefined && now !== before, EPOCH_MILLIS).then(
      () => true,
      () => false,
    );
  };
  const write: TopicClient["write"] = client.write;
  return { topic, write, lose, config: { bootstrap_servers, topics: [topic], group: topic, request_timeout: 15_000 } };
}
