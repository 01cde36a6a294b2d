import type { KafkaCluster } from "../client/cluster.js";
import { KafkaError } from "../client/kafka-error.js";
import { lackedRights } from "../client/rights.js";
import { readMetadata, type Topic } from "../client/topics.js";

const MISSING = "UNKNOWN_TOPIC_OR_PARTITION";

export interface FoundTopics {
  /** How many partitions topics have that are there and that the user may read. */
  readonly partitions: ReadonlyMap<string, number>;
  /** What tells these topics from others that had or get their names. */
  readonly ids: ReadonlyMap<string, string>;
  /** Those that are not there. */
  readonly missing: readonly string[];
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
  const { topics, faults } = await readMetadata(cluster, allowed);
  return {
    partitions: counted(topics.values()),
    ids: new Map([...topics.values()].map(({ name, id }) => [name, id])),
    missing: allowed.filter((name) => faults.get(name)?.id === MISSING),
    denied,
  };
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
  return counted(topics.values());
}

function counted(topics: Iterable<Topic>): ReadonlyMap<string, number> {
  return new Map([...topics].map(({ name, partitions }) => [name, partitions.length]));
}

/** What was found, as it was spread over a group: brokers may have said less then, as while a right is missing for a moment. */
export function asSpread(found: FoundTopics, counted: ReadonlyMap<string, number> = found.partitions): FoundTopics {
  const partitions = [...found.partitions.keys()].flatMap((topic) => {
    const count = counted.get(topic);
    return count === undefined ? [] : [[topic, count] as const];
  });
  return { ...found, partitions: new Map(partitions) };
}

/** Whether something came or went. */
export function isOther(one: FoundTopics, other: FoundTopics): boolean {
  const [before, now] = [one.partitions, other.partitions];
  return before.size !== now.size || [...now].some(([topic, partitions]) => before.get(topic) !== partitions);
}
