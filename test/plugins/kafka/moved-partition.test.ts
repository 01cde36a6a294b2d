import assert from "node:assert/strict";
import { test } from "node:test";
import { type ClusterConnections, KafkaCluster } from "../../../plugins/kafka/client/cluster.js";
import type { Line } from "../../../plugins/kafka/client/connections.js";
import { Directory } from "../../../plugins/kafka/client/directory.js";
import { loadLibrary } from "../../../plugins/kafka/client/library.js";
import { Reader } from "../../../plugins/kafka/client/reader.js";
import { readMetadata } from "../../../plugins/kafka/client/topics.js";
import { until } from "../../support/until.js";
import { connection } from "./topic-client.js";

const NOT_LEADER = 6;

const library = await loadLibrary();

test("a partition that has moved is found although another one of its broker has records again and again", async () => {
  let leader = 1;
  const connections: ClusterConnections = {
    request: async <T>({ port, purpose }: Line): Promise<T> => {
      if (purpose === "admin") return typed<T>(metadata(leader));
      if (port === 2) return typed<T>(fetched([records(1)]));
      return typed<T>(fetched([records(0), { ...records(1), errorCode: NOT_LEADER, bytes: Buffer.alloc(0) }]));
    },
    anySocket: () => undefined,
    close: () => undefined,
  };
  const config = { ...connection, bootstrap_servers: ["kafka:1", "kafka:2"] };
  const cluster = new KafkaCluster(library, connections, config);
  const directory = new Directory(cluster, await readMetadata(cluster, ["t"]));
  const reader = new Reader(cluster, directory, {
    purpose: "read",
    isolation: "read_uncommitted",
    bearableMillis: 30_000,
  });
  leader = 2;

  const positions = [0, 1].map((partition) => ({ topic: "t", partition, offset: 0 }));
  const limits = { bytes: 1000, waitMillis: 1000, signal: new AbortController().signal };
  const read = new Set<number>();
  await until(
    async () => {
      for (const { partition } of await reader.read(positions, limits)) read.add(partition);
      return read.has(1);
    },
    (isFound) => isFound,
  );

  assert.deepEqual([...read], [0, 1]);
});

/** Partition 0 stays with broker 1. */
function metadata(leader: number) {
  const brokers = [1, 2].map((port) => ({ nodeId: port, host: "kafka", port, rack: null }));
  const partition = { errorCode: 0, leaderEpoch: 0, replicaNodes: [1, 2] };
  const partitions = [
    { ...partition, partitionIndex: 0, leaderId: 1 },
    { ...partition, partitionIndex: 1, leaderId: leader, leaderEpoch: leader },
  ];
  return { clusterId: "c", brokers, topics: [{ errorCode: 0, name: "t", topicId: "i", partitions }] };
}

function fetched(partitions: readonly object[]) {
  return { errorCode: 0, responses: [{ topicId: "i", partitions }] };
}

function records(partitionIndex: number) {
  const bytes = library.createRecordsBatch([{ topic: "t", value: Buffer.from("value") }], {}).buffer;
  const offsets = { highWatermark: "1n", lastStableOffset: "1n", abortedTransactions: [] };
  return { partitionIndex, errorCode: 0, ...offsets, bytes };
}

/** The answer to a request, whose type only the one that asks knows. */
function typed<T>(answer: unknown): T {
  return JSON.parse(JSON.stringify(answer), (_, value) => {
    if (value?.type === "Buffer") return Buffer.from(value.data);
    return /^\d+n$/.test(value) ? BigInt(value.slice(0, -1)) : value;
  });
}
