import { after, before } from "node:test";
import { freePort } from "../../../support/free-port.js";
import { kafkaPrograms } from "../../../support/kafka-jars.js";
import { type OwnKafka, startOwnKafka } from "../../../support/own-kafka.js";
import { NO_KAFKA } from "../../../support/provided-kafka.js";

const programs = await kafkaPrograms();

/** For tests that need it: why it is not there, or false. */
export const skip = programs === undefined ? NO_KAFKA : false;

/** A Kafka for the tests of one file, which may freeze and kill it; there once they run. */
export let kafka: OwnKafka;

/** Another port of it: to clients that come by it the broker says that it is at the advertised one. */
export let way: { readonly port: number; readonly advertised: number };

before(async () => {
  if (programs === undefined) return;
  way = { port: await freePort("127.0.0.1"), advertised: await freePort("127.0.0.1") };
  kafka = await startOwnKafka(programs, { ways: [way] });
});
after(async () => {
  if (programs !== undefined) await kafka.stop();
});
