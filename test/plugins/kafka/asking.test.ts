import assert from "node:assert/strict";
import { test } from "node:test";
import { type ClusterConnections, KafkaCluster } from "../../../plugins/kafka/client/cluster.js";
import type { Line } from "../../../plugins/kafka/client/connections.js";
import { Directory } from "../../../plugins/kafka/client/directory.js";
import { KafkaError, type KafkaErrorKind } from "../../../plugins/kafka/client/kafka-error.js";
import { loadLibrary } from "../../../plugins/kafka/client/library.js";
import { deleteRecords, readExtents } from "../../../plugins/kafka/client/offsets.js";
import { Producer } from "../../../plugins/kafka/client/producer.js";
import { ProducerIdentities } from "../../../plugins/kafka/client/producer-identities.js";
import { createTopics, readMetadata } from "../../../plugins/kafka/client/topics.js";
import { Coordinator } from "../../../plugins/kafka/source/coordinator.js";
import { connection } from "./topic-client.js";

const NOT_CONTROLLER = 41;
const NOT_LEADER = 6;

/** Brokers of which each gives the answer of its script; `asked` are the ports that were. */
async function brokersThat(answer: (port: number) => unknown, request_timeout = connection.request_timeout) {
  const asked: number[] = [];
  const connections: ClusterConnections = {
    request: async <T>({ port }: Line): Promise<T> => {
      asked.push(port);
      return typed<T>(answer(port));
    },
    anySocket: () => undefined,
    close: () => undefined,
  };
  const config = { ...connection, request_timeout, bootstrap_servers: ["kafka:1", "kafka:2", "kafka:3"] };
  return { cluster: new KafkaCluster(await loadLibrary(), connections, config), asked };
}

/** The answer to a request, whose type only the one that asks knows. */
function typed<T>(answer: unknown): T {
  return JSON.parse(JSON.stringify(answer));
}

function metadata(leader: number, epoch: number, nodes: readonly number[] = [1, 2, 3]) {
  const brokers = nodes.map((port) => ({ nodeId: port, host: "kafka", port, rack: null }));
  const partition = { errorCode: 0, partitionIndex: 0, leaderId: leader, leaderEpoch: epoch, replicaNodes: [1, 2, 3] };
  return { clusterId: "c", brokers, topics: [{ errorCode: 0, name: "t", topicId: "i", partitions: [partition] }] };
}

test("a broker that did not answer is asked after the others, until it answers again", async () => {
  const failing = new Set([1]);
  const { cluster, asked } = await brokersThat((port) => {
    if (failing.has(port)) throw new KafkaError("unavailable", "no answer");
    return "answer";
  });
  const ask = () => cluster.askAny(async () => "");

  await ask();
  await ask();
  failing.clear();
  failing.add(2).add(3);
  await ask();
  await ask();

  assert.deepEqual(asked, [1, 2, 2, 2, 3, 1, 1]);
});

test("a broker that refuses this client says nothing about the others, and is reported when none of them answers", async () => {
  let kinds: readonly (KafkaErrorKind | undefined)[] = ["denied"];
  const { cluster, asked } = await brokersThat((port) => {
    const kind = kinds[port - 1];
    if (kind !== undefined) throw new KafkaError(kind, `broker ${port}: ${kind}`);
    return "answer";
  });
  const ask = () => cluster.askAny(async () => "");

  await ask();
  kinds = ["denied", "unavailable", "unavailable"];
  const refusal = await ask().catch((error: unknown) => error);

  assert.deepEqual(asked, [1, 2, 2, 3, 1]);
  assert.ok(refusal instanceof KafkaError);
  assert.deepEqual([refusal.kind, refusal.message], ["denied", "broker 1: denied"]);
});

test("leaders are looked for at one broker after another, and what a broker that was cut off says does not count", async () => {
  const { cluster, asked } = await brokersThat((port) => (port === 1 ? metadata(1, 5) : metadata(2, 6)));
  const directory = new Directory(cluster, await readMetadata(cluster, ["t"]));
  const place = { topic: "t", partition: 0 };
  const leaders = [directory.leader(place)];

  for (let look = 0; look < 3; look += 1) {
    await directory.refresh();
    leaders.push(directory.leader(place));
  }

  assert.deepEqual(asked, [1, 2, 3, 1]);
  assert.deepEqual(leaders, [1, 2, 2, 2]);
});

test("a write that a broker refuses for good says so, also after another broker was not the leader", async () => {
  const answers: readonly (() => unknown)[] = [
    () => metadata(1, 5),
    () => ({ errorCode: 0, producerId: 1, producerEpoch: 0 }),
    () => ({ responses: [{ name: "t", partitionResponses: [{ index: 0, errorCode: NOT_LEADER }] }] }),
    () => metadata(2, 6),
    () => {
      throw new KafkaError("denied", "the certificate of the broker is not valid now");
    },
  ];
  let at = 0;
  const { cluster } = await brokersThat(() => answers[at++]?.());
  const producer = new Producer(cluster, new Directory(cluster, await readMetadata(cluster, ["t"])));

  const refusal = await producer.write({ topic: "t", partition: 0 }, []).catch((error: unknown) => error);

  assert.ok(refusal instanceof KafkaError);
  assert.deepEqual([refusal.kind, refusal.message], ["denied", "the certificate of the broker is not valid now"]);
});

test("each identity of a writer is later than those before, and behind the last epoch of a producer there is another one", async () => {
  const answers: readonly unknown[] = [
    { errorCode: 0, producerId: 1, producerEpoch: 32_765 },
    { errorCode: 0, producerId: 2, producerEpoch: 0 },
  ];
  let at = 0;
  const { cluster } = await brokersThat(() => answers[at++]);
  const identities = new ProducerIdentities(cluster);

  const together = await Promise.all([identities.next(), identities.next()]);
  const later = await identities.next();

  assert.deepEqual(
    [...together, later],
    [
      { producerId: 1, producerEpoch: 32_766 },
      { producerId: 1, producerEpoch: 32_767 },
      { producerId: 2, producerEpoch: 1 },
    ],
  );
});

test("a coordinator that was away when the brokers were asked last is found when it is back", async () => {
  const answers: readonly unknown[] = [
    metadata(1, 5, [1, 2]),
    { coordinators: [{ key: "g", nodeId: 3, host: "kafka", port: 3, errorCode: 0, errorMessage: null }] },
    metadata(1, 5),
    "answer of the coordinator",
  ];
  let at = 0;
  const { cluster, asked } = await brokersThat(() => answers[at++]);
  await readMetadata(cluster, ["t"]);

  const answer = await new Coordinator(cluster, "g").ask(async () => "", { signal: AbortSignal.timeout(5000) });

  assert.equal(answer, "answer of the coordinator");
  assert.equal(asked.at(-1), 3);
});

test("a topic is made by the broker that is the controller, where the others do not pass it on", async () => {
  const { cluster, asked } = await brokersThat((port) => ({
    topics: [{ name: "t", errorCode: port === 3 ? 0 : NOT_CONTROLLER, errorMessage: null }],
  }));

  await createTopics(cluster, [{ name: "t", partitions: 1, replicas: 3, settings: {} }]);

  assert.deepEqual(asked, [1, 2, 3]);
});

test("a leader that does not answer holds up no partition of the others, and what was to be removed there is not said to be", async () => {
  const partitions = [1, 2].map((leader, partitionIndex) => {
    const led = { partitionIndex, leaderId: leader, leaderEpoch: 1, replicaNodes: [leader] };
    return { ...led, errorCode: 0, offset: 7 };
  });
  // Of a broker that answers: who leads what, what it holds and what it has removed.
  const all = { ...metadata(1, 1, [1, 2]), topics: [{ errorCode: 0, name: "t", topicId: "i", partitions }] };
  const { cluster } = await brokersThat((port) => {
    if (port === 2) throw new KafkaError("unavailable", "broker 2: no answer");
    return all;
  }, 300);
  const directory = new Directory(cluster, await readMetadata(cluster, ["t"]));
  const places = [0, 1].map((partition) => ({ topic: "t", partition, offset: 3 }));

  const extents = await readExtents(cluster, directory, places);
  const removal = await deleteRecords(cluster, directory, places).catch((error: unknown) => error);
  const alone = await readExtents(cluster, directory, places.slice(1)).catch((error: unknown) => error);

  assert.deepEqual(extents, [{ topic: "t", partition: 0, first: 7, next: 7 }]);
  for (const failure of [removal, alone]) {
    assert.ok(failure instanceof KafkaError);
    assert.match(failure.message, /broker 2: no answer/);
  }
});

test("a request that is not answered in time names the quota for which brokers throttle the client, and no other failure does", async () => {
  const answers: (object | string)[] = [{ throttleTimeMs: 500 }, "connection refused"];
  const { cluster } = await brokersThat(() => {
    const answer = answers.shift() ?? "no answer in time";
    if (typeof answer === "string") throw new KafkaError("unavailable", `asking kafka: ${answer}`);
    return answer;
  });
  const node = 1;
  cluster.know(new Map([[node, { host: "kafka", port: 1 }]]));
  const ask = () => cluster.askNode(node, async () => "");

  await ask();
  await assert.rejects(ask(), { message: "asking kafka: connection refused" });
  await assert.rejects(ask(), /no answer in time; .*a quota of its user or client id is used up/);
});
