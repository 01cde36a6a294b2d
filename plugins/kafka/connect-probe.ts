import { TLSSocket } from "node:tls";
import type { Examiner, Probe, ProbeResult } from "deneb/sdk";
import { agentErrorOf } from "./agent-error.js";
import { type KafkaCluster, openCluster } from "./client/cluster.js";
import type { ConnectionConfig } from "./client/properties.js";

/** What is tried with the brokers. */
export interface ClusterProbe {
  readonly tries: string;
  run(cluster: KafkaCluster, signal: AbortSignal): Promise<ProbeResult>;
}

/** Whether the brokers let this client in; then what else is to be tried, each with a connection of its own. */
export function connectProbe(
  config: ConnectionConfig,
  component: string,
  { examiner, next }: { readonly examiner: Examiner; readonly next: readonly ClusterProbe[] },
): Probe {
  const { bootstrap_servers, security_protocol, sasl_username } = config;
  const user = security_protocol.startsWith("SASL_") ? ` as "${sasl_username}"` : "";
  const inCluster = async (signal: AbortSignal, run: ClusterProbe["run"]): Promise<ProbeResult> => {
    try {
      const cluster = await openCluster(config, component, signal);
      try {
        return await run(cluster, signal);
      } finally {
        cluster.close();
      }
    } catch (error) {
      throw agentErrorOf(error, "connecting to Kafka", () => true);
    }
  };
  return {
    tries: `connect to ${bootstrap_servers.join(" ")} with ${security_protocol}${user}`,
    run: (signal) => inCluster(signal, async (cluster) => secured(cluster, config, examiner)),
    next: next.map(({ tries, run }) => ({ tries, run: (signal) => inCluster(signal, run) })),
  };
}

function secured(cluster: KafkaCluster, { ssl_verify }: ConnectionConfig, examiner: Examiner): ProbeResult {
  const socket = cluster.socket();
  if (!(socket instanceof TLSSocket)) return { outcome: "ok", reason: "without TLS" };
  const certificate = socket.getPeerX509Certificate();
  const judged: ProbeResult = certificate === undefined ? { outcome: "ok" } : examiner.certificate(certificate.raw);
  const checked = ssl_verify ? "" : ", not verified (ssl_verify = false)";
  const found = [`${socket.getProtocol()}${checked}`, judged.reason].filter((text) => text !== undefined);
  // The connection is there, whatever becomes of the certificate.
  return { ...judged, outcome: judged.outcome === "failed" ? "warning" : judged.outcome, reason: found.join("; ") };
}
