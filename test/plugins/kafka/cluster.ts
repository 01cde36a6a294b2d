import type { KafkaCluster } from "../../../plugins/kafka/client/cluster.js";
import { openCluster } from "../../../plugins/kafka/client/open-cluster.js";
import { readMetadata, readSettings } from "../../../plugins/kafka/client/topics.js";
import { freePort } from "../../support/free-port.js";
import type { KafkaPrograms } from "../../support/kafka-jars.js";
import { clusterId } from "../../support/kafka-properties.js";
import { type OwnKafka, startOwnKafka } from "../../support/own-kafka.js";
import { until } from "../../support/until.js";
import { connection } from "./topic-client.js";

const HOST = "127.0.0.1";
const NODES = [1, 2, 3] as const;
const WHOLE_MILLIS = 240_000;
/** A broker that is silent for so long loses its partitions; 9 s where nobody changed it. */
const LINES = [
  "broker.session.timeout.ms=3000",
  "broker.heartbeat.interval.ms=500",
  "default.replication.factor=3",
  "min.insync.replicas=2",
  "group.initial.rebalance.delay.ms=0",
];

/** Three brokers that are each other's controllers. */
export interface OwnCluster {
  readonly brokers: readonly OwnKafka[];
  /** All of them, as `bootstrap_servers` wants them. */
  readonly bootstrap: readonly string[];
  /** Starts the last of them; until then it was never there. */
  readonly complete: () => Promise<void>;
  /** Resolves when each of them knows all of them, and every replica of every partition is in sync. */
  readonly whole: () => Promise<void>;
  /** The broker that leads a partition. */
  readonly leader: (topic: string, partition: number) => Promise<OwnKafka>;
  /** The partitions that a broker leads. */
  readonly partsOf: (topic: string, broker: OwnKafka) => Promise<readonly number[]>;
  /** The safety of topics. */
  readonly topics: (
    names: readonly string[],
  ) => Promise<readonly { readonly replicas: number; readonly "min.insync.replicas": string | undefined }[]>;
  readonly stop: () => Promise<void>;
}

/** Starts the first two. */
export async function startKafkaCluster(programs: KafkaPrograms): Promise<OwnCluster> {
  const id = clusterId();
  const ports = await distinctPorts(2 * NODES.length);
  const controllers = new Map(NODES.map((node, index) => [node, ports[NODES.length + index] ?? 0]));
  const bootstrap = NODES.map((_, index) => `${HOST}:${ports[index]}`);
  const brokers: OwnKafka[] = [];
  const start = async (node: number): Promise<void> => {
    const member = { clusterId: id, node, port: ports[node - 1] ?? 0, controllers };
    brokers.push(await startOwnKafka(programs, { member, lines: LINES }));
  };
  const stop = async () => void (await Promise.all(brokers.map((broker) => broker.stop())));
  // None of them listens to clients before there is a majority.
  const started = await Promise.allSettled(NODES.slice(0, -1).map(start));
  for (const outcome of started) {
    if (outcome.status === "fulfilled") continue;
    await stop();
    throw outcome.reason;
  }
  return {
    brokers,
    bootstrap,
    complete: () => start(NODES.length),
    whole: async () => {
      for (const { address } of brokers) {
        await until(
          () => lacking(address),
          (text) => text === "",
          WHOLE_MILLIS,
        );
      }
    },
    leader: async (topic, partition) => {
      const node = await until(
        async () => (await leadersOf(bootstrap, topic)).get(partition) ?? -1,
        (found) => found >= 0,
      );
      const broker = brokers.find((one) => one.node === node);
      if (broker === undefined) throw new Error(`broker ${node} was not started`);
      return broker;
    },
    partsOf: async (topic, { node }) => {
      const leaders = [...(await leadersOf(bootstrap, topic))];
      return leaders.filter(([, leader]) => leader === node).map(([partition]) => partition);
    },
    topics: (names) => safetyOf(bootstrap, names),
    stop,
  };
}

async function distinctPorts(count: number): Promise<readonly number[]> {
  const ports = new Set<number>();
  while (ports.size < count) ports.add(await freePort(HOST));
  return [...ports];
}

/** What a broker says that is missing; empty for nothing. */
async function lacking(address: string): Promise<string> {
  try {
    const { brokers, topics } = await metadataOf([address], null);
    if (brokers.length < NODES.length) return `${address} knows ${brokers.length} brokers`;
    const behind = topics.flatMap(({ name, partitions }) =>
      partitions
        .filter(({ leaderId, isrNodes, replicaNodes }) => leaderId < 0 || isrNodes.length < replicaNodes.length)
        .map(({ partitionIndex }) => `${name} ${partitionIndex}`),
    );
    return behind.join();
  } catch (error) {
    return String(error);
  }
}

async function leadersOf(bootstrap: readonly string[], topic: string): Promise<ReadonlyMap<number, number>> {
  const { topics } = await metadataOf(bootstrap, [topic]);
  return new Map(topics[0]?.partitions.map(({ partitionIndex, leaderId }) => [partitionIndex, leaderId]));
}

async function safetyOf(bootstrap: readonly string[], names: readonly string[]) {
  return await withCluster(bootstrap, async (cluster) => {
    const [{ topics }, settings] = [await readMetadata(cluster, names), await readSettings(cluster, names)];
    return names.map((name) => ({
      replicas: Math.min(...(topics.get(name)?.partitions ?? []).map(({ replicas }) => replicas)),
      "min.insync.replicas": settings.get(name)?.get("min.insync.replicas"),
    }));
  });
}

async function metadataOf(bootstrap: readonly string[], topics: string[] | null) {
  return await withCluster(bootstrap, (cluster) =>
    cluster.askAny((line, library) => library.metadataV12.api.async(line, topics, false, false)),
  );
}

async function withCluster<T>(bootstrap: readonly string[], ask: (cluster: KafkaCluster) => Promise<T>): Promise<T> {
  const config = { ...connection, bootstrap_servers: [...bootstrap], request_timeout: 6000 };
  const cluster = await openCluster(config, "the test", new AbortController().signal);
  try {
    return await ask(cluster);
  } finally {
    cluster.close();
  }
}
