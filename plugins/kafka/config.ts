import { logChannelFaults, logChannelProperties } from "deneb/log";
import type { ConfigOf, PropertyFault, Schema } from "deneb/sdk";
import { checkConnection, connectionProperties } from "./client/properties.js";
import { topicNameFault } from "./client/topic-name.js";

/** The most that a topic that is made here takes in one batch of records, in bytes. */
export const LARGEST_BATCH = 67_108_864;

/** The log of a channel in Kafka. */
const logProperties = {
  topic: {
    doc: "Topic of the events; what agents tell each other and their dead letters are in the topics <topic>.agents and <topic>.letters.",
    format: "text",
  },
  partitions: {
    doc: "How many partitions the topic gets when it is made here; one that is there must have at least as many. As many agents can share the work.",
    format: "count",
    default: 8,
    min: 1,
    max: 10_000,
  },
  replication_factor: {
    doc: "On how many brokers each partition of a topic is kept that is made here; 0: on three, or on all when there are fewer.",
    format: "count",
    default: 0,
    max: 1000,
  },
  min_insync_replicas: {
    doc: "How many of them must have an event before it is accepted, for a topic that is made here; 0: one less than there are replicas, at least 1.",
    format: "count",
    default: 0,
    max: 1000,
  },
  create_topic: {
    doc: "true: topics that are missing are made. false: they must be there.",
    format: "flag",
    default: true,
  },
  max_message_bytes: {
    doc: "Largest record of a topic that is made here, in bytes (max.message.bytes).",
    format: "count",
    default: 2_097_152,
    min: 65_536,
    max: LARGEST_BATCH,
  },
} as const satisfies Schema;

const kafkaLogSchema = { ...connectionProperties, ...logProperties } as const satisfies Schema;

export type KafkaLogConfig = ConfigOf<typeof kafkaLogSchema>;

type Fault = PropertyFault<typeof kafkaLogSchema>;

function checkKafkaLog(config: KafkaLogConfig): readonly Fault[] {
  const { topic, replication_factor: replicas, min_insync_replicas: least } = config;
  return [
    ...checkConnection(config),
    ...topicFaults(topic),
    ...(replicas > 0 && least > replicas
      ? [{ property: "min_insync_replicas", reason: `must not be above replication_factor = ${replicas}` } as const]
      : []),
  ];
}

export const kafkaChannelSchema = { ...kafkaLogSchema, ...logChannelProperties } as const satisfies Schema;

type KafkaChannelConfig = ConfigOf<typeof kafkaChannelSchema>;

export function checkKafkaChannel(config: KafkaChannelConfig): readonly PropertyFault<typeof kafkaChannelSchema>[] {
  return [...checkKafkaLog(config), ...logChannelFaults(config)];
}

function topicFaults(topic: string): readonly Fault[] {
  const fault = topicNameFault(topic, ".letters".length);
  return fault === undefined ? [] : [{ property: "topic", reason: fault }];
}
