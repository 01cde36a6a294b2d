import type { KafkaSettings } from "../support/kafka-properties.js";
import { agentCase } from "./case.js";
import { type MeasureOptions, measure } from "./measure.js";

/** A broker as its own scripts start it (kafka-server-start.sh, kafka-run-class.sh of 4.1). */
export const operatedKafka: KafkaSettings = {
  java: [
    "-Xmx1G",
    "-Xms1G",
    "-server",
    "-XX:+UseG1GC",
    "-XX:MaxGCPauseMillis=20",
    "-XX:InitiatingHeapOccupancyPercent=35",
    "-XX:+ExplicitGCInvokesConcurrent",
  ],
};

/** Java compiles what a broker does most while it does it: after a minute of load an event costs a fifth of its CPU time at first. */
const WARM_SECONDS = 60;

interface Warming extends MeasureOptions {
  say(what: string): void;
}

/** Loads the Kafka of the benchmark until it is as fast as one that has run for a while. */
export async function warmKafka({ say, ...options }: Warming): Promise<void> {
  say(`Kafka runs under load for ${WARM_SECONDS} s before anything is measured`);
  const bench = agentCase({ database: "postgresql", channel: "kafka", batchSize: 1, entities: 100 });
  const { profile: _, ...others } = options;
  await measure(bench, { ...others, seconds: WARM_SECONDS, looks: 0 });
}
