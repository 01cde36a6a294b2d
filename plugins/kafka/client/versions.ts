import type { KafkaCluster } from "./cluster.js";
import { KafkaError } from "./kafka-error.js";

/** The requests that are made here, in versions that Kafka 3.1 and every later one up to 4.x has. */
const needed = [
  { name: "Produce", key: 0, version: 9 },
  { name: "Fetch", key: 1, version: 13 },
  { name: "ListOffsets", key: 2, version: 7 },
  { name: "Metadata", key: 3, version: 12 },
  { name: "CreateTopics", key: 19, version: 7 },
  { name: "DeleteRecords", key: 21, version: 2 },
  { name: "OffsetForLeaderEpoch", key: 23, version: 4 },
  { name: "InitProducerId", key: 22, version: 4 },
  { name: "DescribeConfigs", key: 32, version: 4 },
] as const;

/** Rejects unless the brokers understand what they will be asked. */
export async function requireVersions(cluster: KafkaCluster): Promise<void> {
  const { apiKeys } = await cluster.askAny(
    async (connection, library) => await library.apiVersionsV3.api.async(connection, "deneb", "1"),
  );
  const missing = needed.filter(
    ({ key, version }) =>
      !apiKeys.some(
        ({ apiKey, minVersion, maxVersion }) => apiKey === key && minVersion <= version && version <= maxVersion,
      ),
  );
  if (missing.length === 0) return;
  const names = missing.map(({ name, version }) => `${name} version ${version}`).join(", ");
  throw new KafkaError("settings", `the brokers do not understand ${names}; Kafka 3.1 or later is needed`);
}
