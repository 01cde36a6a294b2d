import { randomUUID } from "node:crypto";
import type { TestContext } from "node:test";
import type { KafkaCluster } from "../../../plugins/kafka/client/cluster.js";
import { Directory } from "../../../plugins/kafka/client/directory.js";
import { readExtents } from "../../../plugins/kafka/client/offsets.js";
import { openCluster } from "../../../plugins/kafka/client/open-cluster.js";
import type { Message } from "../../../plugins/kafka/client/outgoing.js";
import { Producer } from "../../../plugins/kafka/client/producer.js";
import type { ConnectionConfig } from "../../../plugins/kafka/client/properties.js";
import { Reader } from "../../../plugins/kafka/client/reader.js";
import { createTopics, readMetadata } from "../../../plugins/kafka/client/topics.js";
import { kafkaOfTests } from "../../support/provided-kafka.js";
import { until } from "../../support/until.js";
import { deleteTopics } from "./delete-topics.js";

const DEFAULT_OF_BROKERS = -1;

/** How a test reaches the Kafka of the tests. */
export const connection: ConnectionConfig = {
  bootstrap_servers: [kafkaOfTests()],
  security_protocol: "PLAINTEXT",
  sasl_mechanism: "SCRAM-SHA-512",
  sasl_username: "",
  sasl_password: "",
  ssl_ca_file: "",
  ssl_cert_file: "",
  ssl_key_file: "",
  ssl_verify: true,
  client_id: "deneb-test",
  request_timeout: 30_000,
};

export interface ReadRecord {
  readonly partition: number;
  readonly key: string | undefined;
  readonly value: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timestamp: number;
}

/** What a test does with topics besides the component that it tests. */
export interface TopicClient {
  readonly cluster: KafkaCluster;
  /** Makes a topic that keeps its records, however old their timestamps are. */
  make(topic: string, partitions?: number, settings?: Readonly<Record<string, string>>): Promise<void>;
  remove(...topics: readonly string[]): Promise<void>;
  write(topic: string, partition: number, messages: readonly Message[]): Promise<void>;
  /** Every record, partition by partition, each in order. */
  read(topic: string): Promise<readonly ReadRecord[]>;
  close(): void;
}

export async function topicClient(changes: Partial<ConnectionConfig> = {}): Promise<TopicClient> {
  const cluster = await openCluster({ ...connection, ...changes }, "the test", new AbortController().signal);
  const opened = async (topic: string) =>
    await until(
      () => readMetadata(cluster, [topic]),
      ({ topics }) => topics.get(topic)?.partitions.every(({ leader }) => leader >= 0) === true,
    );
  return {
    cluster,
    make: async (name, partitions = 1, settings = {}) => {
      const kept = { "retention.ms": "-1", ...settings };
      await createTopics(cluster, [{ name, partitions, replicas: DEFAULT_OF_BROKERS, settings: kept }]);
      await opened(name);
    },
    remove: async (...topics) => await deleteTopics(cluster, topics),
    write: async (topic, partition, messages) => {
      const directory = new Directory(cluster, await opened(topic));
      await new Producer(cluster, directory).write({ topic, partition }, messages);
    },
    read: async (topic) => await readTopic(cluster, topic, new Directory(cluster, await opened(topic))),
    close: () => cluster.close(),
  };
}

/** The same, closed after a test, with a topic of its own that is not made; also those with these endings are removed. */
export async function ownTopic(context: TestContext, ...endings: readonly string[]) {
  const client = await topicClient();
  const topic = `deneb_test_${randomUUID()}`;
  context.after(async () => {
    await client.remove(topic, ...endings.map((ending) => topic + ending));
    client.close();
  });
  return { ...client, topic };
}

async function readTopic(cluster: KafkaCluster, topic: string, directory: Directory): Promise<readonly ReadRecord[]> {
  const options = { purpose: "test", isolation: "read_uncommitted", bearableMillis: cluster.callMillis } as const;
  const reader = new Reader(cluster, directory, options);
  const places = directory.topic(topic).partitions.map(({ index: partition }) => ({ topic, partition }));
  const extents = await readExtents(cluster, directory, places);
  const { signal } = new AbortController();
  const records: ReadRecord[] = [];
  for (const { partition, first, next } of extents) {
    for (let offset = first; offset < next; ) {
      const [fetched] = await reader.read([{ topic, partition, offset }], { bytes: 1e7, waitMillis: 1000, signal });
      for (const { key, value, headers, timestamp } of fetched?.records ?? []) {
        const named = headers.map(([name, content]) => [String(name), String(content)] as const);
        const text = { key: key?.toString(), value: String(value), headers: Object.fromEntries(named) };
        records.push({ partition, timestamp, ...text });
      }
      offset = fetched?.next ?? offset;
    }
  }
  return records;
}
