import { after, before } from "node:test";
import { kafkaPrograms } from "../../../support/kafka-jars.js";
import { type OwnKafka, startOwnKafka } from "../../../support/own-kafka.js";
import { NO_KAFKA } from "../../../support/provided-kafka.js";

const programs = await kafkaPrograms();

/** For tests that need it: why it is not there, or false. */
export const skip = programs === undefined ? NO_KAFKA : false;

/** A Kafka for the tests of one file, which may freeze and kill it; there once they run. */
export let kafka: OwnKafka;

before(async () => {
  if (programs !== undefined) kafka = await startOwnKafka(programs);
});
after(async () => {
  if (programs !== undefined) await kafka.stop();
});
