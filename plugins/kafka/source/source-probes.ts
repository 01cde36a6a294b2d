import type { Examiner, Probe, ProbeResult } from "deneb/sdk";
import { reasonOf } from "deneb/sdk";
import type { KafkaCluster } from "../client/cluster.js";
import { readMetadata } from "../client/topics.js";
import { connectProbe } from "../connect-probe.js";
import type { KafkaSourceConfig } from "./config.js";
import { Coordinator } from "./coordinator.js";

/** Whether the brokers let this client in, and to its topics and its group; nobody of the group is disturbed. */
export function sourceProbes(
  config: KafkaSourceConfig,
  { title, group }: { readonly title: string; readonly group: string },
  examiner: Examiner,
): readonly Probe[] {
  const topics = {
    tries: `find ${config.topics.join(" ")}`,
    run: (cluster: KafkaCluster) => topicsFound(cluster, config.topics),
  };
  const offsets = {
    tries: `read the offsets of group "${group}"`,
    run: async (cluster: KafkaCluster): Promise<ProbeResult> => {
      // The coordinator is found among the brokers that are known.
      await readMetadata(cluster, []);
      const places = config.topics.map((topic) => ({ topic, partition: 0 }));
      const known = await new Coordinator(cluster, group).committed(places);
      const begun = known.length > 0 ? "goes on where it was" : `begins at the ${config.start} record`;
      return { outcome: "ok", reason: `it ${begun}` };
    },
  };
  return [connectProbe(config, title, { examiner, next: [topics, offsets] })];
}

async function topicsFound(cluster: KafkaCluster, names: readonly string[]): Promise<ProbeResult> {
  const { topics, faults } = await readMetadata(cluster, names);
  const denied = [...faults.values()].find(({ kind }) => kind === "denied");
  if (denied !== undefined) {
    const remedy = "allow the user to read them (Describe and Read on the topics, Read on the group)";
    return { outcome: "failed", reason: reasonOf(denied), remedy };
  }
  const missing = names.filter((name) => !topics.has(name));
  if (missing.length === 0) return { outcome: "ok" };
  return {
    outcome: "warning",
    reason: `${missing.join(" ")} not there yet`,
    remedy: "make them, or wait for who writes them",
  };
}
