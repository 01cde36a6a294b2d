import type { KafkaCluster } from "../client/cluster.js";
import { KafkaError } from "../client/kafka-error.js";
import { lackedRights } from "../client/rights.js";
import { readMetadata } from "../client/topics.js";

export interface FoundTopics {
  /** How many partitions topics have that are there and that the user may read. */
  readonly partitions: ReadonlyMap<string, number>;
  /** Why other ones may not be read. */
  readonly denied: ReadonlyMap<string, string>;
}

/** What there is to read of these topics. Rejects with a KafkaError where the user may read none of them. */
export async function findTopics(cluster: KafkaCluster, names: readonly string[]): Promise<FoundTopics> {
  const lacked = await lackedRights(cluster, names, ["Read"]);
  const denied = new Map([...lacked].map(([topic, rights]) => [topic, denialOf(rights)]));
  const [reason] = denied.values();
  if (reason !== undefined && denied.size === names.length) throw new KafkaError("denied", reason);
  const allowed = names.filter((name) => !denied.has(name));
  return { partitions: await countPartitions(cluster, allowed), denied };
}

function denialOf(rights: string): string {
  return `TOPIC_AUTHORIZATION_FAILED, the user lacks ${rights}; allow it by the ACLs of the topic`;
}

/** How many partitions topics have; those that are not there, and those that the user may not see, are left out. */
export async function countPartitions(
  cluster: KafkaCluster,
  names: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const { topics } = await readMetadata(cluster, names);
  return new Map([...topics.values()].map(({ name, partitions }) => [name, partitions.length]));
}

/** Whether something came or went. */
export function isOther(one: FoundTopics, other: FoundTopics): boolean {
  const [before, now] = [one.partitions, other.partitions];
  return before.size !== now.size || [...now].some(([topic, partitions]) => before.get(topic) !== partitions);
}
