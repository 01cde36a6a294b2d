import type { KafkaCluster } from "../../../plugins/kafka/client/cluster.js";
import { Coordinator } from "../../../plugins/kafka/source/coordinator.js";
import { until } from "../../support/until.js";
import { topicClient } from "./topic-client.js";

/** Numbers of the protocol. */
const HEARTBEAT = 68;
const JOINS = 0;
const LEAVES = -1;

/** Why no broker of the tests spreads partitions over a group by itself, as those before Kafka 4 do not; false where they do. */
export async function withoutBrokersAssigning(): Promise<string | false> {
  const client = await topicClient().catch(() => undefined);
  if (client === undefined) return "needs Kafka";
  const { apiKeys } = await client.cluster.askAny(
    async (line, library) => await library.apiVersionsV3.api.async(line, "deneb-test", "1"),
  );
  client.close();
  return apiKeys.some(({ apiKey }) => apiKey === HEARTBEAT) ? false : "needs Kafka 4";
}

/** Joins a group as consumers do that have `group.protocol=consumer`. Returns what leaves it. */
export async function foreignMember(cluster: KafkaCluster, group: string): Promise<() => Promise<void>> {
  const coordinator = new Coordinator(cluster, group);
  const beat = async (member: string, epoch: number) =>
    await coordinator.ask(
      async (line, { consumerGroupHeartbeatV0: { api } }) =>
        await api.async(line, group, member, epoch, null, null, 60_000, [group], null, null, []),
    );
  const joined = await until(
    async () => await beat("", JOINS).catch(() => undefined),
    (answer) => answer !== undefined,
  );
  return async () => void (await beat(joined?.memberId ?? "", LEAVES));
}
