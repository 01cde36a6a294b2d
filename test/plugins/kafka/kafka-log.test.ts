import { test } from "node:test";
import { partitionedLogCases } from "../../log/partitioned-log-cases.js";
import { answersKafka, NO_KAFKA } from "../../support/provided-kafka.js";
import { kafkaEngine } from "./kafka-engine.js";

const skip = (await answersKafka()) ? false : NO_KAFKA;

for (const { title, run } of partitionedLogCases) test(`in Kafka ${title}`, { skip }, () => run(kafkaEngine()));
