import { randomUUID } from "node:crypto";
import type { ConformanceStore } from "../../core/testing/index.js";
import { connection, topicClient } from "../plugins/kafka/topic-client.js";

const LARGEST_RECORD = 100_000;

/** A topic that takes no large records. */
export async function kafkaStore(): Promise<ConformanceStore> {
  const topic = `deneb_conformance_${randomUUID()}`;
  const client = await topicClient();
  await client.make(topic, 4, { "max.message.bytes": String(LARGEST_RECORD) });
  const { bootstrap_servers } = connection;
  return {
    config: { bootstrap_servers, topic },
    readBack: async () => (await client.read(topic)).map(({ value }) => JSON.parse(value).mark.value),
    unreachable: { bootstrap_servers: ["127.0.0.1:1"], request_timeout: 200 },
    poisoned: ({ headers, body }) => {
      const large = "x".repeat(2 * LARGEST_RECORD);
      return { headers, body: JSON.parse(JSON.stringify(body).replace(/"text":"[^"]*"/, `"text":"${large}"`)) };
    },
    async close() {
      await client.remove(topic);
      client.close();
    },
  };
}
