import type { LogFacts, LogSettings } from "deneb/log";
import type { KafkaCluster } from "../client/cluster.js";
import { KafkaError } from "../client/kafka-error.js";
import { type Metadata, readMetadata, readSettings } from "../client/topics.js";
import type { KafkaLogConfig } from "../config.js";
import { counted } from "../counted.js";
import { makeTopics } from "./make-topics.js";
import { largestRecord, requireReadable, requireSettings, warningsOf } from "./topic-settings.js";

const MISSING = "UNKNOWN_TOPIC_OR_PARTITION";

/** The three topics of a log. */
export interface TopicNames {
  readonly events: string;
  readonly agents: string;
  readonly letters: string;
}

export function topicNames({ topic }: { readonly topic: string }): TopicNames {
  return { events: topic, agents: `${topic}.agents`, letters: `${topic}.letters` };
}

interface OpenedTopics {
  readonly metadata: Metadata;
  readonly facts: LogFacts;
}

/** Finds the topics of a log, makes those that are missing when they may be made, and judges their settings. */
export async function openTopics(cluster: KafkaCluster, config: KafkaLogConfig): Promise<OpenedTopics> {
  const names = topicNames(config);
  const all = Object.values(names);
  let isMade = false;
  const metadata = await cluster.persistently("opening the topics", async () => {
    const found = await readMetadata(cluster, all);
    const missing = all.filter((name) => found.faults.get(name)?.id === MISSING);
    if (missing.length === 0) return led(found, all, isMade);
    if (!config.create_topic) throw notThere(missing);
    await makeTopics(cluster, config, { names: missing, brokers: found.brokers.size });
    isMade = true;
    return led(await readMetadata(cluster, all), all, isMade);
  });
  return { metadata, facts: await factsOf(cluster, metadata, config) };
}

/** Judges the settings that the topics of an open log have now; `used`: the partitions that were there when it was opened. */
export async function settingsOfTopics(
  cluster: KafkaCluster,
  config: KafkaLogConfig,
  used: number,
): Promise<LogSettings> {
  const names = Object.values(topicNames(config));
  const metadata = await cluster.persistently("looking at the topics", () => readMetadata(cluster, names));
  const [fault] = metadata.faults.values();
  if (fault !== undefined) throw fault;
  return await factsOf(cluster, metadata, config, used);
}

/**
 * Rejects while a topic is not there, or none of its partitions has a leader. In topics that were made a moment ago each of them
 * gets one; later, one without holds up itself only.
 */
function led(metadata: Metadata, names: readonly string[], isMade: boolean): Metadata {
  for (const name of names) {
    const topic = metadata.topics.get(name);
    if (topic === undefined) {
      throw metadata.faults.get(name) ?? new KafkaError("unavailable", `topic "${name}" is not there yet`);
    }
    const without = topic.partitions.filter(({ leader }) => leader < 0);
    if (without.length === topic.partitions.length || (isMade && without.length > 0)) {
      throw new KafkaError("unavailable", `partition ${without[0]?.index ?? 0} of topic "${name}" has no leader`);
    }
  }
  return metadata;
}

/** `used`: the partitions that were there when the log was opened; absent: it is being opened. */
async function factsOf(
  cluster: KafkaCluster,
  metadata: Metadata,
  config: KafkaLogConfig,
  used?: number,
): Promise<LogFacts> {
  const settings = await settingsOf(cluster, [...metadata.topics.keys()]);
  const judged = [...metadata.topics.values()].map((topic) => ({ topic, settings: settings?.get(topic.name) }));
  for (const one of judged) {
    const needs = one.topic.name === config.topic ? config.partitions : 1;
    requireSettings(one, { has: one.topic.partitions.length, needs });
    requireReadable(one, cluster.library.compressionsAlgorithms.zstd.available);
  }
  const events = metadata.topics.get(config.topic);
  const partitions = events?.partitions.length ?? 0;
  return {
    id: `${metadata.clusterId}/${events?.id}`,
    partitions,
    gapless: true,
    largestRecord: Math.min(...judged.map(largestRecord)),
    warnings: [...warningsOfPartitions(config, partitions, used ?? partitions), ...judged.flatMap(warningsOf)],
  };
}

function warningsOfPartitions({ topic, partitions }: KafkaLogConfig, has: number, used: number): readonly string[] {
  if (has > used) {
    return [
      `topic "${topic}" has ${counted(has, "partition")} now, and this agent uses ${used}; start all agents again, one after another`,
    ];
  }
  if (has === partitions) return [];
  return [`topic "${topic}" has ${counted(has, "partition")}, and all are used; set partitions = ${has}`];
}

/** Undefined when the user may not read them. */
async function settingsOf(cluster: KafkaCluster, names: readonly string[]) {
  try {
    return await cluster.persistently("reading the settings of the topics", () => readSettings(cluster, names));
  } catch (error) {
    // Other refusals are of the user as a whole.
    if (error instanceof KafkaError && error.id.endsWith("AUTHORIZATION_FAILED")) return undefined;
    throw error;
  }
}

function notThere(missing: readonly string[]): KafkaError {
  const names = missing.map((name) => `"${name}"`).join(", ");
  return new KafkaError("settings", `there is no topic ${names}; make it, or set create_topic = true`);
}
