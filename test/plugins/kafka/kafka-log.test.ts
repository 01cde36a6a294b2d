import { test } from "node:test";
import { logConformance } from "../../../core/testing/index.js";
import { answersKafka, NO_KAFKA } from "../../support/provided-kafka.js";
import { kafkaEngine } from "./kafka-engine.js";

/** These cases are not about time, and a slow machine took more than 30 s to make 1,000 partitions. */
const PATIENT_MILLIS = 240_000;

const skip = (await answersKafka()) ? false : NO_KAFKA;

for (const { name, run } of logConformance(kafkaEngine({ request_timeout: PATIENT_MILLIS })))
  test(`in Kafka ${name}`, { skip }, run);
