import { kafkaJars, kafkaPrograms } from "./kafka-jars.js";
import type { KafkaSettings } from "./kafka-properties.js";
import { startOwnKafka } from "./own-kafka.js";
import { type ProvidedServer, where } from "./provided-server.js";
import { reachable } from "./reachable.js";

/** The Kafka of the tests, as `bootstrap_servers` wants it. */
export function kafkaOfTests(): string {
  return process.env["DENEB_TEST_KAFKA"] ?? "127.0.0.1:9092";
}

/** The Kafka that DENEB_TEST_KAFKA names when it answers, else one of our own from jars that were fetched before. */
export function providedKafka(settings: KafkaSettings = {}): ProvidedServer {
  const address = kafkaOfTests();
  const colon = address.lastIndexOf(":");
  const given = { host: address.slice(0, colon), port: Number(address.slice(colon + 1)) };
  return {
    name: "Kafka",
    where: where(given),
    answers: () => reachable(given.host, given.port),
    missingPrograms: `java with the jars of .ci/fetch-kafka in ${kafkaJars()}`,
    start: async () => {
      const programs = await kafkaPrograms();
      return programs === undefined ? undefined : await startOwnKafka(programs, settings);
    },
    announce: (own) => {
      process.env["DENEB_TEST_KAFKA"] = where(own);
    },
  };
}

/** Why a test is skipped without it. */
export const NO_KAFKA = "Kafka is not available";

/** Whether the Kafka of the tests answers. */
export async function answersKafka(): Promise<boolean> {
  return await providedKafka().answers();
}
