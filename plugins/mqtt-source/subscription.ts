import type { MqttClient } from "mqtt";

const REFUSED = 0x80;

/** What a broker answers to a subscription. */
interface Subscribed {
  /** The topics that it refuses; the others are subscribed. */
  readonly refused: readonly string[];
  /** Those that it gives a lower QoS than was asked for. */
  readonly lowered: readonly string[];
}

/** Subscribes to the topics. Rejects without an answer of the broker. */
export async function subscribed(client: MqttClient, topics: readonly string[], qos: 0 | 1): Promise<Subscribed> {
  const granted = await grants(client, topics, qos);
  return {
    refused: topics.filter((_, index) => granted[index] === REFUSED),
    lowered: topics.filter((_, index) => Number(granted[index]) < qos),
  };
}

async function grants(client: MqttClient, topics: readonly string[], qos: 0 | 1): Promise<readonly unknown[]> {
  try {
    const answered = await client.subscribeAsync([...topics], { qos });
    return answered.map((one) => one.qos);
  } catch (error) {
    const granted = grantedIn(error);
    if (granted === undefined) throw error;
    return granted;
  }
}

/** What the broker answered for each topic: the client rejects when one of them is refused. */
function grantedIn(error: unknown): readonly unknown[] | undefined {
  if (!(error instanceof Error) || !("packet" in error)) return undefined;
  const { packet } = error;
  const granted = typeof packet === "object" && packet !== null && "granted" in packet ? packet.granted : undefined;
  return Array.isArray(granted) && granted.includes(REFUSED) ? granted : undefined;
}
