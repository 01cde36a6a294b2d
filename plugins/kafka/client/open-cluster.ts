import { onAbort } from "deneb/sdk";
import { KafkaCluster } from "./cluster.js";
import { connectionOptions } from "./connection-options.js";
import { Connections } from "./connections.js";
import { KafkaError, kafkaErrorOf } from "./kafka-error.js";
import { loadLibrary } from "./library.js";
import type { ConnectionConfig } from "./properties.js";
import { readMetadata } from "./topics.js";
import { requireVersions } from "./versions.js";

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
