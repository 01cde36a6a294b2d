import type { TestContext } from "node:test";
import type { KafkaSinkConfig } from "../../../plugins/kafka/sink/config.js";
import { KafkaSink } from "../../../plugins/kafka/sink/kafka-sink.js";
import { recordingLog } from "../../support/recording-log.js";
import { connection } from "./topic-client.js";

export const sinkConfig: KafkaSinkConfig = {
  ...connection,
  topic: "ngsi",
  key: "entity",
  value: "normalized",
  create_topic: true,
  partitions: 0,
  replication_factor: 0,
};

/** A sink that has started and stops with the test. */
export async function runningSink(context: TestContext, config: Partial<KafkaSinkConfig>): Promise<KafkaSink> {
  const sink = newSink(config);
  context.after(() => sink.stop());
  await sink.start();
  return sink;
}

export function newSink(config: Partial<KafkaSinkConfig>): KafkaSink {
  const { log } = recordingLog();
  const context = { name: "kafka-sink", log, dataDir: "", run: "run", now: () => new Date(0) };
  return new KafkaSink({ ...sinkConfig, ...config }, context);
}
