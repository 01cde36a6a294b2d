import type { KafkaCluster } from "../../../plugins/kafka/client/cluster.js";
import { protocolError } from "../../../plugins/kafka/client/kafka-error.js";

const NO_ERROR = 0;

/** Removes topics; those that are not there count as removed. */
export async function deleteTopics(cluster: KafkaCluster, names: readonly string[]): Promise<void> {
  const topics = names.map((name) => ({ name }));
  const { responses } = await cluster.askAny(
    async (connection, library) => await library.deleteTopicsV6.api.async(connection, topics, cluster.lookMillis),
    { millis: cluster.attemptMillis },
  );
  for (const { name, errorCode, errorMessage } of responses) {
    if (errorCode === NO_ERROR) continue;
    const error = protocolError(cluster.library, errorCode, `removing the topic "${name}"`, errorMessage);
    if (error.id !== "UNKNOWN_TOPIC_OR_PARTITION") throw error;
  }
}
