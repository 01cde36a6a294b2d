import { logChannel } from "deneb/log";
import { definePlugin } from "deneb/sdk";
import { checkKafkaChannel, kafkaChannelSchema } from "./config.js";
import { KafkaLog } from "./log/kafka-log.js";
import { checkKafkaSink, kafkaSinkSchema } from "./sink/config.js";
import { explainRecord } from "./sink/entity-record.js";
import { KafkaSink } from "./sink/kafka-sink.js";
import { checkKafkaSource, kafkaSourceSchema } from "./source/config.js";
import { KafkaSource } from "./source/kafka-source.js";

export default [
  definePlugin({
    kind: "channel",
    type: "kafka",
    summary:
      "Keeps events in a topic of Kafka, which several agents share: any of them stores what each accepted, once.",
    stability: "beta",
    takers: "one",
    feeders: "others",
    config: kafkaChannelSchema,
    check: checkKafkaChannel,
    certificates: ({ ssl_cert_file }) => [ssl_cert_file],
    create: (config, context) =>
      logChannel({ log: new KafkaLog(config, `channel "${context.name}"`), engine: "kafka", config, context }),
  }),
  definePlugin({
    kind: "sink",
    type: "kafka",
    summary: "Writes each entity as a record of a topic of Kafka, as NGSI JSON under a key of its own.",
    stability: "beta",
    config: kafkaSinkSchema,
    check: checkKafkaSink,
    certificates: ({ ssl_cert_file }) => [ssl_cert_file],
    explain: async (config, event) => explainRecord(config, event),
    create: (config, context) => new KafkaSink(config, context),
  }),
  definePlugin({
    kind: "source",
    type: "kafka",
    summary: "Reads notifications from topics of Kafka, together with the other sources of its group.",
    stability: "beta",
    refusals: [
      { status: 413, cause: "content-too-large" },
      { status: 400, cause: "metadata" },
    ],
    workers: () => "each",
    config: kafkaSourceSchema,
    slots: { handler: "handler" },
    check: checkKafkaSource,
    certificates: ({ ssl_cert_file }) => [ssl_cert_file],
    create: (config, context) => new KafkaSource(config, context),
  }),
];
