import { AgentError } from "deneb/sdk";
import type { Topic } from "../client/topics.js";
import { LARGEST_BATCH } from "../config.js";
import { counted } from "../counted.js";

/** Bytes of a record beside its value: the head of its batch, lengths and times. */
const RECORD_OVERHEAD = 128;
const SMALLEST_RECORD = 65_536;
/** What brokers take where nobody set it. */
const USUAL_BATCH = 1_048_588;

interface JudgedTopic {
  readonly topic: Topic;
  /** Its settings by name; undefined when the user may not read them. */
  readonly settings: ReadonlyMap<string, string> | undefined;
}

/** The most bytes of a value in a record of this topic. Where nobody knows it the brokers refuse what is larger: a guess could refuse what they take. */
export function largestRecord({ settings }: JudgedTopic): number {
  const largest = settings === undefined ? LARGEST_BATCH : Number(settings.get("max.message.bytes") ?? USUAL_BATCH);
  return largest - RECORD_OVERHEAD;
}

/** Throws with code `LOG_SETTINGS` when a log cannot be kept in a topic. */
export function requireSettings(
  { topic: { name }, settings }: JudgedTopic,
  partitions: { readonly has: number; readonly needs: number },
): void {
  if (partitions.has < partitions.needs) {
    const remedy = `add some (kafka-topics.sh --alter --topic ${name} --partitions ${partitions.needs}), or set partitions = ${partitions.has}`;
    refuse(name, `has ${counted(partitions.has, "partition")}, and partitions = ${partitions.needs}; ${remedy}`);
  }
  const policy = settings?.get("cleanup.policy") ?? "delete";
  if (policy.includes("compact")) {
    const remedy = `set it to delete (kafka-configs.sh --alter --entity-type topics --entity-name ${name} --add-config cleanup.policy=delete)`;
    refuse(name, `has cleanup.policy = ${policy}, which removes events that were not stored; ${remedy}`);
  }
  const largest = Number(settings?.get("max.message.bytes") ?? Number.POSITIVE_INFINITY);
  if (largest < SMALLEST_RECORD) {
    refuse(name, `has max.message.bytes = ${largest}; it must be at least ${SMALLEST_RECORD}, and 2097152 is better`);
  }
}

/** Throws with code `LOG_SETTINGS` when this agent could not read what brokers keep of the records that they are given. */
export function requireReadable({ topic: { name }, settings }: JudgedTopic, canReadZstd: boolean): void {
  if (canReadZstd || settings?.get("compression.type") !== "zstd") return;
  const remedy = `run Node.js 22.15 or later, or set it to producer (kafka-configs.sh --alter --entity-type topics --entity-name ${name} --add-config compression.type=producer)`;
  refuse(name, `has compression.type = zstd, which this Node.js, ${process.version}, cannot read; ${remedy}`);
}

/** One sentence for each setting with which an accepted event could be lost. */
export function warningsOf({ topic, settings }: JudgedTopic): readonly string[] {
  const { name, partitions } = topic;
  const replicas = Math.min(...partitions.map(({ replicas: count }) => count));
  const warnings: string[] = [];
  if (replicas === 1) {
    warnings.push(
      `topic "${name}" has one replica: an accepted event is lost with the disk of its broker, or when its machine stops before the event is on disk; give it three replicas`,
    );
  }
  if (settings === undefined) {
    warnings.push(
      `the settings of topic "${name}" cannot be read, so nobody knows whether accepted events are safe; allow the user DescribeConfigs on it`,
    );
    return warnings;
  }
  if (replicas > 1 && Number(settings.get("min.insync.replicas") ?? 1) < 2) {
    warnings.push(
      `topic "${name}" has ${replicas} replicas and min.insync.replicas = 1: an event is accepted when one broker has it, and lost with that one; set min.insync.replicas to 2`,
    );
  }
  if (settings.get("unclean.leader.election.enable") === "true") {
    warnings.push(
      `topic "${name}" has unclean.leader.election.enable = true: a broker without the newest events may take over and drop them; set it to false`,
    );
  }
  for (const limit of ["retention.ms", "retention.bytes"]) {
    const value = settings.get(limit);
    if (value === undefined || value === "-1") continue;
    warnings.push(
      `topic "${name}" has ${limit} = ${value}: events that wait longer than that are removed before they are stored; set it to -1`,
    );
  }
  return warnings;
}

function refuse(topic: string, reason: string): never {
  throw new AgentError("LOG_SETTINGS", `keeping the log: topic "${topic}" ${reason}`, { retryable: false });
}
