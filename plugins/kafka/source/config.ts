import type { ConfigOf, PropertyFault, Schema } from "deneb/sdk";
import { checkConnection, connectionProperties } from "../client/properties.js";
import { topicNameFault } from "../client/topic-name.js";

/** The longest name of a group that Kafka keeps. */
const LONGEST_GROUP = 255;

export const kafkaSourceSchema = {
  ...connectionProperties,
  topics: {
    doc: "Topics to read, separated by blanks or commas. One that is not there yet is read once it is.",
    format: "words",
  },
  group: {
    doc: "Sources of one group share the partitions, each read by one of them; up to where is kept in Kafka under this name. Empty means deneb- and the name of the source.",
    format: "text",
    default: "",
    maxLength: LONGEST_GROUP,
  },
  start: {
    doc: "Where a partition is begun that the group has not read before. earliest: at its oldest record. latest: behind its newest; what comes while the source runs, a topic or a partition, is begun at its oldest nevertheless.",
    format: ["earliest", "latest"],
    default: "earliest",
  },
  isolation_level: {
    doc: "read_committed: records of transactions count once these are committed, those of aborted ones never. read_uncommitted: they count at once.",
    format: ["read_committed", "read_uncommitted"],
    default: "read_committed",
  },
  open_transaction_timeout: {
    doc: "Milliseconds for which a transaction that goes on may hold back the records of a partition before the source is degraded and says it in the log.",
    format: "millis",
    default: 60_000,
    min: 1,
  },
  service: {
    doc: "Service of records whose headers do not name it. Empty leaves it to the handler.",
    format: "text",
    default: "",
  },
  service_path: {
    doc: "Service path of records whose headers do not name it. Empty leaves it to the handler.",
    format: "text",
    default: "",
  },
  notification_target: {
    doc: "Path under which the handler is given each record; must be the notification_target of the handler.",
    format: "text",
    default: "/notify",
  },
  content_type: {
    doc: "Content type of records whose headers do not name it.",
    format: "text",
    default: "application/json",
  },
  max_message_size: {
    doc: "Largest value of a record, in bytes; a record with a larger one is counted as refused.",
    format: "count",
    default: 10_485_760,
    min: 1,
  },
  channel_retry_interval: {
    doc: "Milliseconds after which a record for which a channel has no room is tried again.",
    format: "millis",
    default: 1000,
    min: 1,
  },
  commit_interval: {
    doc: "Milliseconds after which it is committed to Kafka up to where records are in the channels.",
    format: "millis",
    default: 1000,
    min: 10,
  },
  session_timeout: {
    doc: "Milliseconds without a sign of life after which the others of the group get the partitions of a source. Brokers take 6000 or more where nobody changed their group.min.session.timeout.ms.",
    format: "millis",
    default: 10_000,
    min: 1000,
  },
} as const satisfies Schema;

export type KafkaSourceConfig = ConfigOf<typeof kafkaSourceSchema>;

type Fault = PropertyFault<typeof kafkaSourceSchema>;

export function checkKafkaSource(config: KafkaSourceConfig): readonly Fault[] {
  const { topics } = config;
  return [
    ...checkConnection(config),
    ...(topics.length === 0 ? [{ property: "topics", reason: "must name a topic" } as const] : []),
    ...topics.flatMap((topic) => {
      const fault = topicNameFault(topic);
      return fault === undefined ? [] : [{ property: "topics", reason: `${fault}, not "${topic}"` } as const];
    }),
  ];
}
