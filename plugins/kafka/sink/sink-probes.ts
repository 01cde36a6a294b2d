import type { Examiner, Probe, ProbeResult } from "deneb/sdk";
import type { KafkaCluster } from "../client/cluster.js";
import { createTopics, readMetadata } from "../client/topics.js";
import { connectProbe, notAllowed, notMade, withLeaders } from "../connect-probe.js";
import { counted } from "../counted.js";
import type { KafkaSinkConfig } from "./config.js";
import { newTopic } from "./open-topic.js";
import { isVaried, parseTopic } from "./topic-template.js";

/** Whether the brokers let this client in, and whether the topic is there or may be made; one that depends on the event is not asked for. */
export function sinkProbes(config: KafkaSinkConfig, component: string, examiner: Examiner): readonly Probe[] {
  const { topic } = config;
  const find = { tries: `find the topic ${topic}`, run: (cluster: KafkaCluster) => topicFound(cluster, config) };
  const next = isVaried(parseTopic(topic)) ? [] : [find];
  return [connectProbe(config, component, { examiner, next })];
}

/** A probe leaves nothing behind: a topic that is missing is made for a trial only. */
async function topicFound(cluster: KafkaCluster, config: KafkaSinkConfig): Promise<ProbeResult> {
  const { topic: name } = config;
  const denied = await notAllowed(cluster, [name], ["Write"]);
  if (denied !== undefined) return denied;
  const { topics, faults } = await readMetadata(cluster, [name]);
  const topic = topics.get(name);
  if (topic !== undefined) {
    return withLeaders({ outcome: "ok", reason: counted(topic.partitions.length, "partition") }, [topic]);
  }
  const fault = faults.get(name);
  if (fault !== undefined && fault.id !== "UNKNOWN_TOPIC_OR_PARTITION") throw fault;
  if (!config.create_topic) {
    return { outcome: "failed", reason: "there is none", remedy: "make it, or set create_topic = true" };
  }
  try {
    await createTopics(cluster, [newTopic(name, config)], true);
  } catch (error) {
    return notMade(error);
  }
  return { outcome: "ok", reason: "there is none; it will be made" };
}
