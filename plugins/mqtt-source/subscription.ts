import type { MqttClient } from "mqtt";

const REFUSED = 0x80;

/** Subscribes to the topics and resolves to those that the broker refuses; the others are subscribed. Rejects without its answer. */
export async function subscribed(
  client: MqttClient,
  topics: readonly string[],
  qos: 0 | 1,
): Promise<readonly string[]> {
  try {
    await client.subscribeAsync([...topics], { qos });
    return [];
  } catch (error) {
    const granted = grantedIn(error);
    if (granted === undefined) throw error;
    return topics.filter((_, index) => granted[index] === REFUSED);
  }
}

/** What the broker answered for each topic: the client rejects when one of them is refused. */
function grantedIn(error: unknown): readonly unknown[] | undefined {
  if (!(error instanceof Error) || !("packet" in error)) return undefined;
  const { packet } = error;
  const granted = typeof packet === "object" && packet !== null && "granted" in packet ? packet.granted : undefined;
  return Array.isArray(granted) && granted.includes(REFUSED) ? granted : undefined;
}
