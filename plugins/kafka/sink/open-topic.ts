import type { KafkaCluster } from "../client/cluster.js";
import { Directory } from "../client/directory.js";
import { KafkaError } from "../client/kafka-error.js";
import { Producer } from "../client/producer.js";
import type { ProducerIdentities } from "../client/producer-identities.js";
import { createTopics, readMetadata, type Topic } from "../client/topics.js";
import type { KafkaSinkConfig } from "./config.js";

const MISSING = "UNKNOWN_TOPIC_OR_PARTITION";
const DEFAULT_OF_BROKERS = -1;

/** A topic that is written to. */
export interface OpenTopic {
  readonly partitions: number;
  readonly producer: Producer;
}

interface Opening {
  readonly make: HowToMake;
  /** Under which it is written: one write may still be on its way when the topic is opened again. */
  readonly identities: ProducerIdentities;
}

type HowToMake = Pick<KafkaSinkConfig, "create_topic" | "partitions" | "replication_factor">;

/** Finds a topic, and makes it when it is missing and may be made. Rejects with a {@link KafkaError}. */
export async function openTopic(
  cluster: KafkaCluster,
  name: string,
  { make, identities }: Opening,
): Promise<OpenTopic> {
  return await cluster.persistently(`opening the topic "${name}"`, async () => {
    const before = await readMetadata(cluster, [name]);
    const isMissing = before.faults.get(name)?.id === MISSING;
    if (isMissing && !make.create_topic) {
      throw new KafkaError("settings", `there is no topic "${name}"; make it, or set create_topic = true`, {
        id: MISSING,
      });
    }
    if (isMissing) await createTopics(cluster, [newTopic(name, make)]);
    const metadata = isMissing ? await readMetadata(cluster, [name]) : before;
    const topic = metadata.topics.get(name);
    if (topic === undefined) throw metadata.faults.get(name) ?? notYet(name);
    if (!isLed(topic)) throw notYet(name);
    const producer = new Producer(cluster, new Directory(cluster, metadata), identities);
    return { partitions: topic.partitions.length, producer };
  });
}

/** The topic as it would be made. */
export function newTopic(name: string, { partitions, replication_factor: replicas }: HowToMake) {
  return {
    name,
    partitions: partitions === 0 ? DEFAULT_OF_BROKERS : partitions,
    replicas: replicas === 0 ? DEFAULT_OF_BROKERS : replicas,
    settings: {},
  };
}

/** A topic that was made a moment ago may have no leaders yet. */
function isLed({ partitions }: Topic): boolean {
  return partitions.length > 0 && partitions.some(({ leader }) => leader >= 0);
}

function notYet(name: string): KafkaError {
  return new KafkaError("unavailable", `topic "${name}" has no leader yet`);
}
