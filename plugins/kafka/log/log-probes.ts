import type { Examiner, Probe, ProbeResult } from "deneb/sdk";
import type { KafkaCluster } from "../client/cluster.js";
import { readMetadata } from "../client/topics.js";
import type { KafkaLogConfig } from "../config.js";
import { connectProbe, notAllowed, notMade, withLeaders } from "../connect-probe.js";
import { counted } from "../counted.js";
import { makeTopics } from "./make-topics.js";
import { openTopics, topicNames } from "./open-topics.js";

/** Whether the brokers let this client in, and whether the topics are there, may be made, and keep what is accepted. */
export function kafkaLogProbes(config: KafkaLogConfig, component: string, examiner: Examiner): readonly Probe[] {
  const topics = {
    tries: `find the topic ${config.topic}`,
    run: async (cluster: KafkaCluster) => await topicsFound(cluster, config),
  };
  return [connectProbe(config, component, { examiner, next: [topics] })];
}

/** A probe leaves nothing behind: a topic that is missing is made for a trial only. */
async function topicsFound(cluster: KafkaCluster, config: KafkaLogConfig): Promise<ProbeResult> {
  const names = Object.values(topicNames(config));
  const denied = await notAllowed(cluster, names, ["Read", "Write", "Delete"]);
  if (denied !== undefined) return denied;
  const { topics, faults, brokers } = await readMetadata(cluster, names);
  const missing = names.filter((name) => faults.get(name)?.id === "UNKNOWN_TOPIC_OR_PARTITION");
  if (missing.length > 0 && config.create_topic) {
    try {
      await makeTopics(cluster, config, { names: missing, brokers: brokers.size, tryOnly: true });
    } catch (error) {
      return notMade(error);
    }
    return { outcome: "ok", reason: `${missing.join(" ")} will be made at the start` };
  }
  const { facts, metadata } = await openTopics(cluster, config);
  const [warning, ...more] = facts.warnings;
  const found = `${counted(facts.partitions, "partition")}, ${counted(topics.size, "topic")}`;
  const judged: ProbeResult =
    warning === undefined
      ? { outcome: "ok", reason: found }
      : { outcome: "warning", reason: [found, warning, ...more].join("; ") };
  return withLeaders(judged, metadata.topics.values());
}
