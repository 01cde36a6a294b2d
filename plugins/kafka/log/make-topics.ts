import type { KafkaCluster } from "../client/cluster.js";
import { KafkaError } from "../client/kafka-error.js";
import { createTopics, type NewTopic } from "../client/topics.js";
import type { KafkaLogConfig } from "../config.js";

const USUAL_REPLICAS = 3;

interface ToMake {
  readonly names: readonly string[];
  /** How many brokers are there now. */
  readonly brokers: number;
  /** The brokers only say whether they would. */
  readonly tryOnly?: boolean;
}

/**
 * Makes topics of a log. Brokers that are away count, too: a topic that is made while one of three restarts has three replicas.
 * Rejects with `unavailable` while a broker of bootstrap_servers has never been there.
 */
export async function makeTopics(cluster: KafkaCluster, config: KafkaLogConfig, to: ToMake): Promise<void> {
  const { replication_factor: wanted, bootstrap_servers } = config;
  const make = async (replicas: number) =>
    await createTopics(cluster, newTopics(config, to.names, replicas), to.tryOnly ?? false);
  try {
    await make(wanted === 0 ? USUAL_REPLICAS : wanted);
  } catch (error) {
    if (!(error instanceof KafkaError && error.id === "INVALID_REPLICATION_FACTOR") || wanted !== 0) throw error;
    const named = new Set(bootstrap_servers).size;
    if (to.brokers < Math.min(named, USUAL_REPLICAS)) {
      const reason = `of ${named} bootstrap_servers ${to.brokers} are there; start the others, or set replication_factor = ${to.brokers}`;
      throw new KafkaError("unavailable", `making the topics: ${reason}`, { id: error.id, cause: error });
    }
    await make(Math.max(1, to.brokers));
  }
}

function newTopics(config: KafkaLogConfig, names: readonly string[], replicas: number): readonly NewTopic[] {
  const { topic, partitions, min_insync_replicas, max_message_bytes } = config;
  const least = min_insync_replicas === 0 ? Math.max(1, replicas - 1) : min_insync_replicas;
  if (least > replicas) {
    const reason = `min_insync_replicas = ${least} needs as many brokers, and there are ${replicas}`;
    throw new KafkaError("settings", `making the topics: ${reason}; no event would ever be accepted`);
  }
  const settings = {
    "cleanup.policy": "delete",
    "retention.ms": "-1",
    "retention.bytes": "-1",
    // By the clock of an agent, a broker would refuse records of one that is more than an hour ahead.
    "message.timestamp.type": "LogAppendTime",
    "max.message.bytes": String(max_message_bytes),
    "min.insync.replicas": String(least),
  };
  return names.map((name) => ({ name, partitions: name === topic ? partitions : 1, replicas, settings }));
}
