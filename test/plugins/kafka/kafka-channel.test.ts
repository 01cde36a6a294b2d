import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { channelConformance } from "../../../core/testing/index.js";
import { KafkaLog } from "../../../plugins/kafka/log/kafka-log.js";
import { anotherLogChannel, openLogChannel, reopenLogChannel } from "../../log/opened-channel.js";
import { answersKafka, NO_KAFKA } from "../../support/provided-kafka.js";
import { logConfig, removeTopics } from "./kafka-engine.js";

const skip = (await answersKafka()) ? false : NO_KAFKA;

test("a channel over a log in Kafka keeps the contract of channels", { skip }, async (context) => {
  const topics: string[] = [];
  const cases = channelConformance(
    async ({ waitSeconds, ...limits }) => {
      const topic = `deneb-channel-${randomBytes(6).toString("hex")}`;
      topics.push(topic);
      const engine = () => new KafkaLog(logConfig(topic, { partitions: 1 }), `channel "${topic}"`);
      return await openLogChannel({ folder: topic, engine, config: { ...limits, "keep-alive": waitSeconds } });
    },
    { reopen: reopenLogChannel, restart: reopenLogChannel, second: anotherLogChannel, twoAgents: "shared" },
  );
  for (const { name, run } of cases) await context.test(name, run);
  for (const topic of topics) await removeTopics(topic);
});
