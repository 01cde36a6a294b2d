import type { KafkaCluster } from "./cluster.js";
import type { Directory, Place } from "./directory.js";
import { KafkaError, protocolError } from "./kafka-error.js";

const EARLIEST = -2n;
const LATEST = -1n;
const NO_ERROR = 0;
const CONSUMER = -1;

/** A place in a partition. */
export interface Position extends Place {
  readonly offset: number;
}

export interface Extent extends Place {
  /** The offset of the oldest record, or `next` when there is none. */
  readonly first: number;
  /** The offset that the next record gets. */
  readonly next: number;
}

/** What partitions hold. Asks until all have said it. */
export async function readExtents(
  cluster: KafkaCluster,
  directory: Directory,
  places: readonly Place[],
): Promise<readonly Extent[]> {
  return await eachLeader(cluster, directory, { places, doing: "reading the offsets" }, async (node, group) => {
    const first = await listed(cluster, { node, group, timestamp: EARLIEST });
    const next = await listed(cluster, { node, group, timestamp: LATEST });
    return group.map((place, index) => ({ ...place, first: first[index] ?? 0, next: next[index] ?? 0 }));
  });
}

/** Removes the records before these offsets. */
export async function deleteRecords(
  cluster: KafkaCluster,
  directory: Directory,
  before: readonly Position[],
): Promise<void> {
  await eachLeader(cluster, directory, { places: before, doing: "removing records" }, async (node, group) => {
    const topics = topicsOf(group, ({ partition, offset }) => ({ partitionIndex: partition, offset: BigInt(offset) }));
    const millis = cluster.attemptMillis;
    const answer = await cluster.askNode(
      node,
      async (connection, library) => await library.deleteRecordsV2.api.async(connection, topics, millis),
    );
    for (const { name, partitions } of answer.topics) {
      for (const { errorCode } of partitions) {
        if (errorCode === NO_ERROR) continue;
        const error = protocolError(cluster.library, errorCode, `removing records of topic "${name}"`);
        // Others removed more.
        if (error.kind !== "offset") throw error;
      }
    }
    return [];
  });
}

interface Listing {
  readonly node: number;
  readonly group: readonly Place[];
  readonly timestamp: bigint;
}

async function listed(cluster: KafkaCluster, { node, group, timestamp }: Listing): Promise<readonly number[]> {
  const topics = topicsOf(group, ({ partition }) => ({ partitionIndex: partition, currentLeaderEpoch: -1, timestamp }));
  const answer = await cluster.askNode(
    node,
    async (connection, library) => await library.listOffsetsV7.api.async(connection, CONSUMER, 0, topics),
  );
  const offsets = new Map<string, number>();
  for (const { name, partitions } of answer.topics) {
    for (const { partitionIndex, errorCode, offset } of partitions) {
      if (errorCode !== NO_ERROR)
        throw protocolError(cluster.library, errorCode, `reading the offsets of topic "${name}"`);
      offsets.set(`${name}:${partitionIndex}`, Number(offset));
    }
  }
  return group.map(({ topic, partition }) => {
    const offset = offsets.get(`${topic}:${partition}`);
    if (offset === undefined)
      throw new KafkaError("unavailable", `topic "${topic}": no offset of partition ${partition}`);
    return offset;
  });
}

interface Work<P> {
  readonly places: readonly P[];
  readonly doing: string;
}

async function eachLeader<P extends Place, T>(
  cluster: KafkaCluster,
  directory: Directory,
  { places, doing }: Work<P>,
  ask: (node: number, group: readonly P[]) => Promise<readonly T[]>,
): Promise<readonly T[]> {
  let again = false;
  return await cluster.persistently(doing, async () => {
    if (again) await directory.refresh();
    again = true;
    for (const place of places) directory.leader(place);
    const groups = [...directory.byLeader(places)];
    return (await Promise.all(groups.map(([node, group]) => ask(node, group)))).flat();
  });
}

function topicsOf<P extends Place, T>(places: readonly P[], of: (place: P) => T): { name: string; partitions: T[] }[] {
  const topics = new Map<string, T[]>();
  for (const place of places) {
    const partitions = topics.get(place.topic);
    if (partitions === undefined) topics.set(place.topic, [of(place)]);
    else partitions.push(of(place));
  }
  return [...topics].map(([name, partitions]) => ({ name, partitions }));
}
