import { test } from "node:test";
import { logConformance } from "../../../core/testing/index.js";
import { answersKafka, NO_KAFKA } from "../../support/provided-kafka.js";
import { kafkaEngine } from "./kafka-engine.js";

const skip = (await answersKafka()) ? false : NO_KAFKA;

for (const { name, run } of logConformance(kafkaEngine())) test(`in Kafka ${name}`, { skip }, run);
