import { after, before } from "node:test";
import { kafkaPrograms } from "../../../support/kafka-jars.js";
import { NO_KAFKA } from "../../../support/provided-kafka.js";
import { type OwnCluster, startKafkaCluster } from "../cluster.js";

const programs = await kafkaPrograms();

/** For tests that need it: why it is not there, or false. */
export const skip = programs === undefined ? NO_KAFKA : false;

/** Three brokers for the tests of one file, which may freeze and kill them; two of them are there when the first one runs, which starts the third. */
export let cluster: OwnCluster;

before(async () => {
  if (programs !== undefined) cluster = await startKafkaCluster(programs);
});
after(async () => {
  if (programs !== undefined) await cluster.stop();
});
