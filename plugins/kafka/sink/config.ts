import type { ConfigOf, PropertyFault, Schema } from "deneb/sdk";
import { checkConnection, connectionProperties } from "../client/properties.js";
import { topicNameFault } from "../client/topic-name.js";
import { parseTopic, topicFault } from "./topic-template.js";

export const kafkaSinkSchema = {
  ...connectionProperties,
  topic: {
    doc: "Topic of the records; a template, in which {{entity.type}} and {{header.NAME}} stand for what the event has, as in ngsi.{{header.fiware-service}}.",
    format: "text",
  },
  key: {
    doc: "entity: service, service path, id and, of NGSI v2, the type, as a JSON list: entities of different tenants never have the same key. id: the id alone.",
    format: ["entity", "id"],
    default: "entity",
  },
  value: {
    doc: "normalized: the entity as NGSI JSON, NGSI-LD or v2 as it came. keyValues: with the bare value of each attribute.",
    format: ["normalized", "keyValues"],
    default: "normalized",
  },
  create_topic: {
    doc: "true: a topic that is missing is made. false: it must be there.",
    format: "flag",
    default: true,
  },
  partitions: {
    doc: "How many partitions a topic gets that is made here; 0: what the brokers have as default.",
    format: "count",
    default: 0,
    max: 10_000,
  },
  replication_factor: {
    doc: "On how many brokers each partition is kept of a topic that is made here; 0: what the brokers have as default.",
    format: "count",
    default: 0,
    max: 1000,
  },
} as const satisfies Schema;

export type KafkaSinkConfig = ConfigOf<typeof kafkaSinkSchema>;

type Fault = PropertyFault<typeof kafkaSinkSchema>;

export function checkKafkaSink(config: KafkaSinkConfig): readonly Fault[] {
  return [...checkConnection(config), ...topicFaults(config.topic)];
}

function topicFaults(topic: string): readonly Fault[] {
  const wrong = topicFault(topic);
  if (wrong !== undefined) return [{ property: "topic", reason: wrong }];
  // What the placeholders stand for is only known with an event.
  const fixed = parseTopic(topic).map((part) => (typeof part === "string" ? part : "x"));
  const fault = topicNameFault(fixed.join(""));
  return fault === undefined ? [] : [{ property: "topic", reason: fault }];
}
