import { readdir } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { installedProgram } from "./installed-program.js";

/** What runs a Kafka: a Java, and the folder with the jars of the broker. */
export interface KafkaPrograms {
  readonly java: string;
  readonly jars: string;
  /** The archive of their classes that `.ci/fetch-kafka` writes where Java can. */
  readonly archive?: string | undefined;
}

const ARCHIVE = "classes.jsa";

/** Where `.ci/fetch-kafka` puts the jars. */
export function kafkaJars(): string {
  return process.env["DENEB_TEST_KAFKA_JARS"] ?? join(homedir(), ".cache", "deneb", "kafka-4.1.1");
}

/** Undefined where one of them is missing; nothing is downloaded. */
export async function kafkaPrograms(): Promise<KafkaPrograms | undefined> {
  const jars = kafkaJars();
  const names = await readdir(jars).catch((): string[] => []);
  const java = await installedProgram("java");
  if (java === undefined || !names.some((name) => /^kafka_2\.\d+-.*\.jar$/.test(name))) return undefined;
  return { java, jars, archive: names.includes(ARCHIVE) ? join(jars, ARCHIVE) : undefined };
}
