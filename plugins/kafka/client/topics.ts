import type { createTopicsV7, metadataV12 } from "@platformatic/kafka";
import type { AskingAny, KafkaCluster } from "./cluster.js";
import type { Address } from "./connections.js";
import { type KafkaError, protocolError } from "./kafka-error.js";

const NO_ERROR = 0;

export interface TopicPartition {
  readonly index: number;
  /** Number of the broker that leads it; -1 for none now. */
  readonly leader: number;
  /** Grows with each change of the leader. */
  readonly epoch: number;
  readonly replicas: number;
}

export interface Topic {
  readonly name: string;
  /** A topic that is made again has another one. */
  readonly id: string;
  /** In the order of their numbers. */
  readonly partitions: readonly TopicPartition[];
}

export interface Metadata {
  readonly clusterId: string;
  readonly brokers: ReadonlyMap<number, Address>;
  readonly topics: ReadonlyMap<string, Topic>;
  /** Why a topic that was asked for is not among the topics. */
  readonly faults: ReadonlyMap<string, KafkaError>;
}

/** What the brokers say of these topics, which are not made by it. Asks once. */
export async function readMetadata(
  cluster: KafkaCluster,
  names: readonly string[],
  asking: Pick<AskingAny<unknown>, "another"> = {},
): Promise<Metadata> {
  const answer: metadataV12.MetadataResponse = await cluster.askAny(
    async (connection, library) => await library.metadataV12.api.async(connection, [...names], false, false),
    asking,
  );
  const brokers = new Map(answer.brokers.map(({ nodeId, host, port }) => [nodeId, { host, port }]));
  cluster.know(brokers);
  const topics = new Map<string, Topic>();
  const faults = new Map<string, KafkaError>();
  for (const { errorCode, name, topicId, partitions } of answer.topics) {
    if (name === null || name === undefined) continue;
    if (errorCode !== NO_ERROR) {
      faults.set(name, protocolError(cluster.library, errorCode, `topic "${name}"`));
      continue;
    }
    const sorted = partitions
      .map(({ partitionIndex: index, leaderId: leader, leaderEpoch: epoch, replicaNodes }) => ({
        index,
        leader,
        epoch,
        replicas: replicaNodes.length,
      }))
      .sort((left, right) => left.index - right.index);
    topics.set(name, { name, id: topicId, partitions: sorted });
  }
  return { clusterId: answer.clusterId ?? "", brokers, topics, faults };
}

export interface NewTopic {
  readonly name: string;
  readonly partitions: number;
  /** -1: what the brokers have as default. */
  readonly replicas: number;
  readonly settings: Readonly<Record<string, string>>;
}

/** Makes topics; those that are there already are left as they are. With `tryOnly` the brokers only say whether they would. */
export async function createTopics(cluster: KafkaCluster, topics: readonly NewTopic[], tryOnly = false): Promise<void> {
  const wanted = topics.map(({ name, partitions, replicas, settings }) => ({
    name,
    numPartitions: partitions,
    replicationFactor: replicas,
    assignments: [],
    configs: Object.entries(settings).map(([key, value]) => ({ name: key, value })),
  }));
  const millis = cluster.lookMillis;
  const { topics: results } = await cluster.askAny<createTopicsV7.CreateTopicsResponse>(
    async (connection, library) => await library.createTopicsV7.api.async(connection, wanted, millis, tryOnly),
    { millis: cluster.attemptMillis, judge: ({ topics: said }) => notController(cluster, said) },
  );
  for (const { name, errorCode, errorMessage } of results) {
    if (errorCode === NO_ERROR) continue;
    const error = protocolError(cluster.library, errorCode, `making the topic "${name}"`, errorMessage);
    if (error.id !== "TOPIC_ALREADY_EXISTS") throw error;
  }
}

/** The settings of topics by their name. Rejects when the user may not read them. */
export async function readSettings(
  cluster: KafkaCluster,
  names: readonly string[],
): Promise<ReadonlyMap<string, ReadonlyMap<string, string>>> {
  const { results } = await cluster.askAny(async (connection, library) => {
    const resourceType = library.ConfigResourceTypes.TOPIC;
    const resources = names.map((resourceName) => ({ resourceType, resourceName }));
    return await library.describeConfigsV4.api.async(connection, resources, false, false);
  });
  const settings = new Map<string, ReadonlyMap<string, string>>();
  for (const { errorCode, errorMessage, resourceName, configs } of results) {
    if (errorCode !== NO_ERROR) {
      throw protocolError(cluster.library, errorCode, `reading the settings of topic "${resourceName}"`, errorMessage);
    }
    settings.set(resourceName, new Map(configs.map(({ name, value }) => [name, value ?? ""])));
  }
  return settings;
}

/** With ZooKeeper only one broker makes topics; the others do not pass it on. */
function notController(
  { library }: KafkaCluster,
  results: readonly { readonly errorCode: number }[],
): KafkaError | undefined {
  const errors = results.map(({ errorCode }) => protocolError(library, errorCode, "changing topics"));
  return errors.find(({ id }) => id === "NOT_CONTROLLER");
}
