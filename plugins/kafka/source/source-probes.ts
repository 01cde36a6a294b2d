import type { Examiner, Probe, ProbeResult } from "deneb/sdk";
import type { KafkaCluster } from "../client/cluster.js";
import { readMetadata } from "../client/topics.js";
import { connectProbe, notAllowed, withLeaders } from "../connect-probe.js";
import type { KafkaSourceConfig } from "./config.js";
import { Coordinator } from "./coordinator.js";
import { lookAtGroup } from "./group-look.js";

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
      const places = config.topics.map((topic) => ({ topic, partition: 0 }));
      const coordinator = new Coordinator(cluster, group);
      const known = await coordinator.committed(places);
      const { mayJoin, others } = await lookAtGroup(cluster, coordinator, group);
      if (!mayJoin) {
        const remedy = `allow Read on group "${group}"`;
        return { outcome: "failed", reason: "the user may not join the group", remedy };
      }
      if (others !== undefined) {
        const remedy = `stop them ("kafka-consumer-groups.sh --describe --members --group ${group}" shows them), or give the source a group of its own`;
        return { outcome: "failed", reason: `other programs are members of it: ${others}`, remedy };
      }
      const begun = known.length > 0 ? "goes on where it was" : `begins at the ${config.start} record`;
      return { outcome: "ok", reason: `it ${begun}` };
    },
  };
  return [connectProbe(config, title, { examiner, next: [topics, offsets] })];
}

async function topicsFound(cluster: KafkaCluster, names: readonly string[]): Promise<ProbeResult> {
  const denied = await notAllowed(cluster, names, ["Read"]);
  if (denied !== undefined) return denied;
  const { topics } = await readMetadata(cluster, names);
  const missing = names.filter((name) => !topics.has(name));
  const found: ProbeResult =
    missing.length === 0
      ? { outcome: "ok" }
      : {
          outcome: "warning",
          reason: `${missing.join(" ")} not there yet`,
          remedy: "make them, or wait for who writes them",
        };
  return withLeaders(found, topics.values());
}
