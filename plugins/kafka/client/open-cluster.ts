import { onAbort } from "deneb/sdk";
import { KafkaCluster } from "./cluster.js";
import { connectionOptions } from "./connection-options.js";
import { Connections } from "./connections.js";
import { KafkaError, kafkaErrorOf } from "./kafka-error.js";
import { loadLibrary } from "./library.js";
import type { ConnectionConfig } from "./properties.js";
import { readMetadata } from "./topics.js";

/**
 * Loads the library and asks each of the bootstrap servers, once, until one says what it can. Rejects with a {@link KafkaError} or with what the loading of files says;
 * the signal ends it.
 */
export async function openCluster(
  config: ConnectionConfig,
  component: string,
  signal: AbortSignal,
): Promise<KafkaCluster> {
  const library = await loadLibrary();
  const connections = await Connections.with(library, config.client_id, () => connectionOptions(config, component));
  const cluster = new KafkaCluster(library, connections, config);
  const stopListening = onAbort(signal, () => cluster.close());
  try {
    await requireVersions(cluster);
    // Brokers tell their versions before they authenticate.
    await readMetadata(cluster, []);
    return cluster;
  } catch (error) {
    cluster.close();
    throw hinted(kafkaErrorOf(error, "connecting"), config);
  } finally {
    stopListening();
  }
}

/** A broker that wants TLS or a user ends a connection that begins without, and says nothing. */
function hinted(failure: KafkaError, { security_protocol }: ConnectionConfig): KafkaError {
  if (failure.kind !== "unavailable" || failure.message.includes("; ")) return failure;
  const hint = /clos|no answer|ECONNRESET/i.test(failure.message)
    ? `the brokers may want another security_protocol than ${security_protocol}`
    : "see bootstrap_servers, and whether the brokers run";
  return new KafkaError(failure.kind, `${failure.message}; ${hint}`, { cause: failure });
}

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
async function requireVersions(cluster: KafkaCluster): Promise<void> {
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
