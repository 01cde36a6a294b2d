import { randomUUID } from "node:crypto";
import type { KafkaCluster } from "../../../plugins/kafka/client/cluster.js";
import { Coordinator } from "../../../plugins/kafka/source/coordinator.js";
import { until } from "../../support/until.js";
import { topicClient } from "./topic-client.js";

/** Numbers of the protocol. */
const HEARTBEAT = 68;
const JOINS = 0;
const LEAVES = -1;
const NO_ERROR = 0;
const UNSUPPORTED_VERSION = 35;

/** Why no broker of the tests spreads partitions over a group by itself, as those before Kafka 4 do not; false where they do. */
export async function withoutBrokersAssigning(): Promise<string | false> {
  const client = await topicClient().catch(() => undefined);
  if (client === undefined) return "needs Kafka";
  const { apiKeys } = await client.cluster.askAny(
    async (line, library) => await library.apiVersionsV3.api.async(line, "deneb-test", "1"),
  );
  const isKnown = apiKeys.some(({ apiKey }) => apiKey === HEARTBEAT);
  const joins = isKnown && (await joinsAtBrokers(client.cluster));
  client.close();
  return joins ? false : "needs Kafka 4";
}

/** Brokers of 3.7 to 3.9 know the request and refuse it. */
async function joinsAtBrokers(cluster: KafkaCluster): Promise<boolean> {
  const member = await joined(cluster, `deneb_test_${randomUUID()}`);
  await member?.leave();
  return member !== undefined;
}

/** Joins a group as consumers do that have `group.protocol=consumer`. Returns what leaves it. */
export async function foreignMember(cluster: KafkaCluster, group: string): Promise<() => Promise<void>> {
  const member = await joined(cluster, group);
  if (member === undefined) throw new Error("the brokers do not spread partitions over a group");
  return member.leave;
}

async function joined(cluster: KafkaCluster, group: string) {
  const coordinator = new Coordinator(cluster, group);
  const beat = async (member: string, epoch: number) =>
    await coordinator.ask(
      async (line, { consumerGroupHeartbeatV0: { api } }) =>
        await api.async(line, group, member, epoch, null, null, 60_000, [group], null, null, []),
    );
  const answer = await until(
    async () => await beat("", JOINS).catch(() => undefined),
    (seen) => seen?.errorCode === NO_ERROR || seen?.errorCode === UNSUPPORTED_VERSION,
  );
  if (answer?.errorCode !== NO_ERROR) return undefined;
  return { leave: async () => void (await beat(answer.memberId ?? "", LEAVES)) };
}
