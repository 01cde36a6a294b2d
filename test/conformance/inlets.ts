import { randomUUID } from "node:crypto";
import { connectAsync } from "mqtt";
import type { ConformanceInlet } from "../../core/testing/index.js";
import { connection, topicClient } from "../plugins/kafka/topic-client.js";
import { freePort } from "../support/free-port.js";

const HOST = "127.0.0.1";

/** A client that posts to an http source. */
export async function httpInlet(): Promise<ConformanceInlet> {
  const port = await freePort(HOST);
  return {
    config: { port, bind: HOST },
    async send(body) {
      const headers = { "Content-Type": "application/json", Connection: "close" };
      const answer = await fetch(`http://${HOST}:${port}/notify`, { method: "POST", headers, body });
      await answer.arrayBuffer();
      return answer.status === 200;
    },
    close: async () => undefined,
  };
}

/** A writer to a topic, which keeps records for the source from the beginning. */
export async function kafkaInlet(): Promise<ConformanceInlet> {
  const topic = `deneb_conformance_${randomUUID()}`;
  const client = await topicClient();
  await client.make(topic);
  const { bootstrap_servers } = connection;
  return {
    config: { bootstrap_servers, topics: [topic], group: topic, channel_retry_interval: 5, commit_interval: 10 },
    async send(text) {
      await client.write(topic, 0, [{ value: Buffer.from(text) }]);
      return true;
    },
    async close() {
      await client.remove(topic);
      client.close();
    },
  };
}

/** A publisher at a broker, which keeps messages for the source from the beginning. */
export async function mqttInlet(url: string): Promise<ConformanceInlet> {
  const clientId = `deneb-test-${randomUUID()}`;
  const topic = `deneb_test/${clientId}`;
  const session = await connectAsync(url, { clientId, clean: false });
  await session.subscribeAsync(topic, { qos: 1 });
  await session.endAsync();
  const publisher = await connectAsync(url);
  const { hostname: host, port } = new URL(url);
  return {
    config: { url, topics: [topic], client_id: clientId, clean_session: false, qos: 1, channel_retry_interval: 5 },
    async send(text) {
      await publisher.publishAsync(topic, text, { qos: 1 });
      return true;
    },
    tcp: { host, port: Number(port), through: (way) => ({ url: `mqtt://127.0.0.1:${way}`, reconnect_interval: 10 }) },
    async close() {
      await publisher.endAsync();
      // A clean session of that name ends the one that was kept.
      await (await connectAsync(url, { clientId, clean: true })).endAsync();
    },
  };
}
