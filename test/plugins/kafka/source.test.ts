import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { AgentError, type Event } from "../../../core/sdk/index.js";
import { readMetadata } from "../../../plugins/kafka/client/topics.js";
import { ConsumerGroup } from "../../../plugins/kafka/source/consumer-group.js";
import { Coordinator } from "../../../plugins/kafka/source/coordinator.js";
import { asSpread, findTopics, isOther } from "../../../plugins/kafka/source/found-topics.js";
import { partName } from "../../../plugins/kafka/source/mark.js";
import { answersKafka, NO_KAFKA } from "../../support/provided-kafka.js";
import { until } from "../../support/until.js";
import { foreignMember, withoutBrokersAssigning } from "./foreign-member.js";
import { notificationRecord, numberOf, record, runningSource } from "./running-source.js";
import { ownTopic } from "./topic-client.js";

const skip = (await answersKafka()) ? false : NO_KAFKA;

const upTo = (count: number): readonly number[] => Array.from({ length: count }, (_, n) => n);

test("a record is received with its tenant from the headers, and its events say where they were", {
  skip,
}, async (context) => {
  const { topic, make, write, cluster } = await ownTopic(context);
  await make(topic, 2);
  const headers = { "Fiware-Service": "openiot", "fiware-servicePath": "/park", "Fiware-Correlator": "c1" };
  await write(topic, 1, [notificationRecord(0), notificationRecord(7, headers)]);

  const { received, emitted } = await runningSource(context, { config: { topics: [topic], group: "g" } });

  assert.deepEqual(await received(2), [0, 7]);
  const id = (await readMetadata(cluster, [topic])).topics.get(topic)?.id ?? "";
  const event = emitted[1];
  assert.equal(event?.headers["fiware-service"], "openiot");
  assert.equal(event.headers["fiware-servicepath"], "/park");
  assert.equal(event.headers["fiware-correlator"], "c1");
  assert.equal(event.headers["deneb-origin"], `${partName(id, 1, { group: "g", cuts: [], epoch: 0 })}:1+0`);
});

test("service and service_path count for records whose headers do not name them", { skip }, async (context) => {
  const { topic, make, write } = await ownTopic(context);
  await make(topic);
  await write(topic, 0, [
    notificationRecord(1),
    notificationRecord(2, { "fiware-service": "own", "fiware-servicepath": "/own" }),
  ]);

  const config = { topics: [topic], service: "farm", service_path: "/f" };
  const { received, emitted } = await runningSource(context, { config });

  await received(2);
  const tenants = emitted.map(({ headers }) => [headers["fiware-service"], headers["fiware-servicepath"]]);
  assert.deepEqual(tenants, [
    ["farm", "/f"],
    ["own", "/own"],
  ]);
});

test("hostile records are counted as refused and hold nothing behind them", { skip }, async (context) => {
  const { topic, make, write } = await ownTopic(context);
  await make(topic, 1, { "max.message.bytes": "4000000" });
  const odd = new Map([
    [Buffer.from([0xff, 0xfe]), Buffer.from("x")],
    [Buffer.from("trace id"), Buffer.from("x")],
    [Buffer.from("schema"), Buffer.from([0, 0, 0, 0, 7, 0xff])],
    [Buffer.from(""), Buffer.from("")],
  ]);
  const badTenant = new Map([[Buffer.from("fiware-service"), Buffer.from([0xff, 0x00])]]);
  await write(topic, 0, [
    record(""),
    record("{"),
    record(Buffer.from([0x7b, 0xff, 0x7d])),
    record("7"),
    record(JSON.stringify({ data: "x".repeat(1_100_000) })),
    record("x".repeat(2_000_001)),
    { ...notificationRecord(1), headers: badTenant },
    record("[".repeat(100_000)),
    notificationRecord(2, { "fiware-service": "x".repeat(200) }),
    { ...notificationRecord(3), headers: odd },
  ]);

  const config = { topics: [topic], max_message_size: 2_000_000 };
  const { received, refused, lines } = await runningSource(context, { config });

  assert.deepEqual(await received(1), [3]);
  assert.equal(refused.length, 9);
  assert.ok(refused.every(({ status }) => status >= 400 && status < 500));
  const warned = lines.filter(({ message }) => message === "requests refused").map(({ fields }) => fields);
  const places = warned.map((fields) => [Reflect.get(fields, "topic"), Reflect.get(fields, "partition")]);
  assert.deepEqual(new Set(places.map(String)), new Set([`${topic},0`]));
  assert.deepEqual(warned.map((fields) => Reflect.get(fields, "offset")).slice(0, 2), [0, 1]);
});

test("a record without a value is refused", { skip }, async (context) => {
  const { topic, make, write, cluster } = await ownTopic(context);
  await make(topic);
  const { library } = cluster;
  await write(topic, 0, [notificationRecord(1)]);
  const { leader = -1 } = (await readMetadata(cluster, [topic])).topics.get(topic)?.partitions[0] ?? {};
  const tombstone = { topic, partition: 0, key: Buffer.from("k"), value: nothing() };
  await cluster.askNode(leader, (line) => library.produceV9.api.async(line, -1, 5000, [tombstone], {}));
  await write(topic, 0, [notificationRecord(2)]);

  const { received, refused } = await runningSource(context, { config: { topics: [topic] } });

  assert.deepEqual(await received(2), [1, 2]);
  assert.equal(refused.length, 1);
});

test("a record that the channels do not take is tried again, and nothing of its partition overtakes it", {
  skip,
}, async (context) => {
  const { topic, make, write } = await ownTopic(context);
  await make(topic);
  await write(
    topic,
    0,
    upTo(20).map((n) => notificationRecord(n)),
  );
  let refusals = 0;
  const emit = async ([event]: readonly Event[]) => {
    if (event === undefined || numberOf(event) % 7 !== 3) return;
    refusals += 1;
    if (refusals % 4 !== 0) throw new AgentError("CHANNEL_FULL", "no room", { retryable: true });
  };

  const { received, logged } = await runningSource(context, { config: { topics: [topic] }, emit });

  assert.deepEqual(await received(20), upTo(20));
  await logged("record held until the channels take it");
});

test("a source goes on behind what it has put, and one of another group begins at the oldest record", {
  skip,
}, async (context) => {
  const { topic, make, write } = await ownTopic(context);
  await make(topic, 3);
  const group = randomUUID();
  for (const partition of upTo(3)) await write(topic, partition, [notificationRecord(partition)]);
  const first = await runningSource(context, { config: { topics: [topic], group } });
  await first.received(3);
  await first.stop();
  for (const partition of upTo(3)) await write(topic, partition, [notificationRecord(10 + partition)]);

  const second = await runningSource(context, { config: { topics: [topic], group } });
  const other = await runningSource(context, { config: { topics: [topic], group: `${group}-2` } });

  assert.deepEqual((await second.received(3)).toSorted(), [10, 11, 12]);
  assert.equal((await other.received(6)).length, 6);
});

test("with start = latest only records that come later are read", { skip }, async (context) => {
  const { topic, make, write } = await ownTopic(context);
  await make(topic);
  await write(topic, 0, [notificationRecord(1)]);
  const group = randomUUID();
  const { received, logged } = await runningSource(context, { config: { topics: [topic], group, start: "latest" } });
  await logged("reading");

  const seen = await until(
    async () => {
      await write(topic, 0, [notificationRecord(2)]);
      return received(0);
    },
    (numbers) => numbers.length > 0,
  );

  assert.ok(!seen.includes(1));
});

test("with start = latest what comes while the source runs is read as a whole: a topic, a partition, a topic that is made again", {
  skip,
}, async (context) => {
  const { topic, make, remove, write, cluster } = await ownTopic(context, "-late");
  const late = `${topic}-late`;
  await make(topic);
  await write(topic, 0, [notificationRecord(1)]);
  const config = { topics: [topic, late], group: randomUUID(), start: "latest" } as const;
  const { received, logged } = await runningSource(context, { config });
  await logged("reading");

  await make(late);
  await write(late, 0, [notificationRecord(2)]);
  await received(1);
  const added = [{ name: topic, count: 2, assignments: null }];
  await cluster.askAny(
    async (line, library) => await library.createPartitionsV3.api.async(line, added, cluster.lookMillis, false),
  );
  await until(
    () => readMetadata(cluster, [topic]),
    ({ topics }) => topics.get(topic)?.partitions[1]?.leader !== undefined,
  );
  await write(topic, 1, [notificationRecord(3)]);
  await received(2);
  await remove(late);
  await until(
    () => readMetadata(cluster, [late]),
    ({ topics }) => topics.size === 0,
  );
  await make(late);
  await write(late, 0, [notificationRecord(4)]);

  assert.deepEqual(await received(3), [2, 3, 4]);
});

test("two sources of a group share the partitions, and one gets all when the other has gone", {
  skip,
}, async (context) => {
  const { topic, make, write } = await ownTopic(context);
  await make(topic, 4);
  const config = { topics: [topic], group: randomUUID() };
  const one = await runningSource(context, { config });
  const two = await runningSource(context, { config });
  const spreadEvenly = async () =>
    [one, two].every(({ lines }) => {
      const last = lines.findLast(({ message }) => message === "reading");
      return last !== undefined && Reflect.get(last.fields, "partitions") === 2;
    });
  await until(spreadEvenly, (evenly) => evenly);
  for (const partition of upTo(4)) await write(topic, partition, [notificationRecord(partition)]);
  await Promise.all([one.received(2), two.received(2)]);
  await one.stop();
  for (const partition of upTo(4)) await write(topic, partition, [notificationRecord(10 + partition)]);

  assert.equal((await two.received(6)).length, 6);
  assert.equal(one.emitted.length, 2);
});

test("a source that has to wait for others of its group says so, and reads when they are gone", {
  skip,
}, async (context) => {
  const { topic, make, write, cluster } = await ownTopic(context);
  await make(topic);
  await write(topic, 0, [notificationRecord(1)]);
  const other = new ConsumerGroup({
    cluster,
    coordinator: new Coordinator(cluster, topic),
    group: topic,
    sessionMillis: 30_000,
    partitionsOf: async () => new Map([[topic, 1]]),
  });
  await other.join([topic], new AbortController().signal);

  const { logged, received } = await runningSource(context, { config: { topics: [topic], group: topic } });
  const [line] = await logged("no reading from Kafka");
  await other.leave();

  assert.match(String(Reflect.get(line?.fields ?? {}, "reason")), /^joining group ".+" waits for its coordinator/);
  assert.deepEqual(await received(1), [1]);
  await logged("reading from Kafka again");
});

test("a source reads nothing while a consumer of the newer protocol is in its group, says so, and reads on when it is gone", {
  skip: skip || (await withoutBrokersAssigning()),
}, async (context) => {
  const { topic, make, write, cluster } = await ownTopic(context);
  await make(topic, 2);
  await write(topic, 0, [notificationRecord(0)]);
  const { received, logged, reports, lines } = await runningSource(context, {
    config: { topics: [topic], group: topic },
  });
  await received(1);

  const leave = await foreignMember(cluster, topic);
  const [line] = await logged("no reading from Kafka");
  for (const partition of [0, 1]) await write(topic, partition, [notificationRecord(1 + partition)]);
  const health = reports.at(-1);
  await leave();

  assert.deepEqual((await received(3)).toSorted(), [0, 1, 2]);
  const reason = String(Reflect.get(line?.fields ?? {}, "reason"));
  assert.match(
    reason,
    /INCONSISTENT_GROUP_PROTOCOL, other programs are members of it, .*give the source a group of its own$/,
  );
  assert.deepEqual(health, { state: "degraded", reason });
  assert.equal(lines.filter(({ level }) => level === "warn").length, 1);
});

test("a session that the brokers do not take is named with its property and theirs", { skip }, async (context) => {
  const { topic, make } = await ownTopic(context);
  await make(topic);

  const { logged } = await runningSource(context, { config: { topics: [topic], group: topic, session_timeout: 1000 } });

  const [line] = await logged("no reading from Kafka");
  assert.match(
    String(Reflect.get(line?.fields ?? {}, "reason")),
    /session_timeout = 1000 .*INVALID_SESSION_TIMEOUT, .*group\.min\.session\.timeout\.ms/,
  );
});

test("a source to which the brokers said too little when it spread the partitions sees that there are others", {
  skip,
}, async (context) => {
  const { topic, make, cluster } = await ownTopic(context);
  await make(topic);
  const of = { cluster, coordinator: new Coordinator(cluster, topic), group: topic, sessionMillis: 30_000 };
  const joined = async (counts: readonly (readonly [string, number])[]) => {
    const member = new ConsumerGroup({ ...of, partitionsOf: async () => new Map(counts) });
    const { places, counted } = await member.join([topic], new AbortController().signal);
    await member.leave();
    const found = await findTopics(cluster, [topic]);
    return [places.length, isOther(asSpread(found, counted), found)];
  };

  assert.deepEqual(await joined([]), [0, true]);
  assert.deepEqual(await joined([[topic, 1]]), [1, false]);
});

test("a topic that is removed ends the reading of another one with no failure, though its offsets cannot be committed", {
  skip,
}, async (context) => {
  const { topic, make, write, remove } = await ownTopic(context, "-gone");
  const gone = `${topic}-gone`;
  for (const name of [topic, gone]) {
    await make(name);
    await write(name, 0, [notificationRecord(1)]);
  }
  const config = { topics: [topic, gone], group: topic, commit_interval: 600_000 };
  const { received, logged, lines } = await runningSource(context, { config });
  await received(2);

  await remove(gone);
  await logged("topics that are to be read are not there");
  await write(topic, 0, [notificationRecord(2)]);

  assert.deepEqual(await received(3), [1, 1, 2]);
  assert.deepEqual(
    lines.filter(({ message }) => message === "no reading from Kafka"),
    [],
  );
});

test("records that were removed before they were read are an error that counts them", { skip }, async (context) => {
  const { topic, make, write, cluster } = await ownTopic(context);
  await make(topic);
  const group = randomUUID();
  await write(topic, 0, [notificationRecord(0)]);
  const first = await runningSource(context, { config: { topics: [topic], group } });
  await first.received(1);
  await first.stop();
  await write(
    topic,
    0,
    upTo(5).map((n) => notificationRecord(n)),
  );
  const { leader = -1 } = (await readMetadata(cluster, [topic])).topics.get(topic)?.partitions[0] ?? {};
  const gone = [{ name: topic, partitions: [{ partitionIndex: 0, offset: 4n }] }];
  await cluster.askNode(leader, (line, library) => library.deleteRecordsV2.api.async(line, gone, 5000));

  const second = await runningSource(context, { config: { topics: [topic], group } });

  assert.deepEqual(await second.received(2), [3, 4]);
  const [line] = await second.logged("records were removed from the topic before they were read; see its retention");
  assert.deepEqual(line?.fields, { topic, partition: 0, from: 1, to: 4, lost: 3 });
});

test("a topic that is removed and made again is read from its beginning, also while the source runs", {
  skip,
}, async (context) => {
  const { topic, make, remove, write, cluster } = await ownTopic(context);
  await make(topic);
  await write(topic, 0, [notificationRecord(1), notificationRecord(2)]);
  const { received } = await runningSource(context, { config: { topics: [topic], group: randomUUID() } });
  await received(2);

  await remove(topic);
  await until(
    () => readMetadata(cluster, [topic]),
    ({ topics }) => topics.size === 0,
  );
  await make(topic);
  await write(topic, 0, [notificationRecord(3), notificationRecord(4), notificationRecord(5)]);

  assert.deepEqual(await received(5), [1, 2, 3, 4, 5]);
});

// The client has no type for a record without a value.
function nothing(): Buffer {
  return JSON.parse("null");
}
