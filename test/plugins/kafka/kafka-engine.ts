import type { ConformanceLogs } from "../../../core/testing/index.js";
import { openCluster } from "../../../plugins/kafka/client/open-cluster.js";
import { readMetadata } from "../../../plugins/kafka/client/topics.js";
import type { KafkaLogConfig } from "../../../plugins/kafka/config.js";
import { KafkaLog } from "../../../plugins/kafka/log/kafka-log.js";
import { topicNames } from "../../../plugins/kafka/log/open-topics.js";
import { until } from "../../support/until.js";
import { deleteTopics } from "./delete-topics.js";
import { connection } from "./topic-client.js";

/** The configuration of a log, with the defaults. */
export function logConfig(topic: string, changes: Partial<KafkaLogConfig> = {}): KafkaLogConfig {
  return {
    ...connection,
    topic,
    partitions: 8,
    replication_factor: 0,
    min_insync_replicas: 0,
    create_topic: true,
    max_message_bytes: 2_097_152,
    ...changes,
  };
}

/** The Kafka of the tests as an engine of logs. */
export function kafkaEngine(changes: Partial<KafkaLogConfig> = {}): ConformanceLogs {
  return {
    make: async (name, partitions) => new KafkaLog(logConfig(name, { partitions, ...changes }), `channel "${name}"`),
    remove: (name) => removeTopics(name, changes),
  };
}

/** Removes the topics of a log and waits until they are gone. */
export async function removeTopics(topic: string, changes: Partial<KafkaLogConfig> = {}): Promise<void> {
  const config = logConfig(topic, changes);
  const cluster = await openCluster(config, "the test", new AbortController().signal);
  const names = Object.values(topicNames(config));
  try {
    await deleteTopics(cluster, names);
    await until(
      () => readMetadata(cluster, names),
      ({ topics }) => topics.size === 0,
    );
  } finally {
    cluster.close();
  }
}
