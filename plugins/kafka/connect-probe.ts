import { TLSSocket } from "node:tls";
import { addressText, type Examiner, type Probe, type ProbeResult } from "deneb/sdk";
import type { KafkaCluster } from "./client/cluster.js";
import { KafkaError, kafkaErrorOf } from "./client/kafka-error.js";
import { openCluster } from "./client/open-cluster.js";
import type { ConnectionConfig } from "./client/properties.js";
import { lackedRights, type Operation } from "./client/rights.js";
import { readMetadata, type Topic } from "./client/topics.js";

/** Partitions of a topic that a result names. */
const MOST_NAMED = 10;

/** The result of a probe that could not make topics. */
export function notMade(error: unknown): ProbeResult {
  if (!(error instanceof KafkaError && error.kind === "denied")) throw error;
  const remedy = "allow the user to make topics (Create on the cluster or on their names), or make them by hand";
  return { outcome: "failed", reason: error.message.replace(/; .*/, ""), remedy };
}

/** The result of a probe of topics that the user must be allowed to use so; undefined when it is. */
export async function notAllowed(
  cluster: KafkaCluster,
  names: readonly string[],
  wanted: readonly Operation[],
): Promise<ProbeResult | undefined> {
  const lacked = await lackedRights(cluster, names, wanted);
  if (lacked.size === 0) return undefined;
  return {
    outcome: "failed",
    reason: "the user has not all the rights",
    remedy: `allow ${[...lacked.values()].join(", and ")}`,
  };
}

/** What was found, and which partitions of these topics nobody can read or write now. */
export function withLeaders(found: ProbeResult, topics: Iterable<Topic>): ProbeResult {
  const lacking = [...topics].flatMap(({ name, partitions }) => {
    const numbers = partitions.filter(({ leader }) => leader < 0).map(({ index }) => index);
    if (numbers.length === 0) return [];
    const more = numbers.length > MOST_NAMED ? ` and ${numbers.length - MOST_NAMED} more` : "";
    const named = `${numbers.slice(0, MOST_NAMED).join(", ")}${more}`;
    return numbers.length === 1
      ? [`partition ${named} of topic "${name}" has no leader`]
      : [`partitions ${named} of topic "${name}" have no leader`];
  });
  if (lacking.length === 0) return found;
  const start = "start the brokers that hold them (kafka-topics.sh --describe --unavailable-partitions names these)";
  const joined = (texts: readonly (string | undefined)[]) => texts.filter((text) => text !== undefined).join("; ");
  return { outcome: "warning", reason: joined([...lacking, found.reason]), remedy: joined([start, found.remedy]) };
}

/** What is tried with the brokers. */
interface ClusterProbe {
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
    const cluster = await openCluster(config, component, signal);
    try {
      return await run(cluster, signal);
    } finally {
      cluster.close();
    }
  };
  return {
    tries: `connect to ${bootstrap_servers.join(" ")} with ${security_protocol}${user}`,
    run: (signal) => inCluster(signal, async (cluster) => await reached(cluster, secured(cluster, config, examiner))),
    next: next.map(({ tries, run }) => ({ tries, run: (signal) => inCluster(signal, run) })),
  };
}

/** One broker may answer for all, but each partition is read and written at the broker that leads it. */
async function reached(cluster: KafkaCluster, found: ProbeResult): Promise<ProbeResult> {
  const { brokers } = await readMetadata(cluster, []);
  const asked = [...brokers].map(async ([node, { host, port }]) => {
    try {
      await cluster.askNode(node, async (line, library) => await library.metadataV12.api.async(line, [], false, false));
      return [];
    } catch (error) {
      return [kafkaErrorOf(error, `asking ${addressText(host, port)}`)];
    }
  });
  const failures = (await Promise.all(asked)).flat();
  const [first] = failures;
  if (first === undefined) return found;
  const [reason = "", remedy = "see the advertised.listeners of the brokers, and whether they run"] =
    first.message.split("; ");
  const count = `${failures.length} of ${brokers.size} brokers cannot be used: ${reason}`;
  const reasons = [found.reason, count].filter((text) => text !== undefined).join("; ");
  return { outcome: failures.length === brokers.size ? "failed" : "warning", reason: reasons, remedy };
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
