import type { KafkaCluster } from "./cluster.js";
import type { Directory, Place } from "./directory.js";
import { KafkaError, type KafkaErrorKind, protocolError } from "./kafka-error.js";

const EARLIEST = -2n;
const LATEST = -1n;
const NO_ERROR = 0;
const CONSUMER = -1;
const ANY_LEADER = -1;

/** What keeps a leader from answering, and passes by itself or when somebody makes room. */
const passing: readonly KafkaErrorKind[] = ["unavailable", "full"];

/** Which records of transactions are read, as consumers of Kafka say it; numbers of the protocol. */
export const isolationLevels = { read_uncommitted: 0, read_committed: 1 } as const;

export type Isolation = keyof typeof isolationLevels;

/** A place in a partition. */
export interface Position extends Place {
  readonly offset: number;
  /** Epoch of the leader whose log was read up to there: one of another epoch refuses to be read. Absent: any leader is read. */
  readonly epoch?: number;
}

export interface Extent extends Place {
  /** The offset of the oldest record, or `next` when there is none. */
  readonly first: number;
  /** The offset that the next record gets. */
  readonly next: number;
}

/** What partitions hold. Asks until all have said it; those without a leader, and those whose leader does not answer in the time for a call, are left out where others have said it. */
export async function readExtents(
  cluster: KafkaCluster,
  directory: Directory,
  places: readonly Place[],
): Promise<readonly Extent[]> {
  const doing = "reading the offsets";
  const { answers } = await eachLeader(cluster, directory, { places, doing }, async (node, group) => {
    return await extentsAt(cluster, { node, group });
  });
  return answers;
}

/** What partitions hold that a broker leads. Asks once. */
export async function extentsAt(cluster: KafkaCluster, asked: AskedLeader): Promise<readonly Extent[]> {
  const first = await listed(cluster, { ...asked, timestamp: EARLIEST });
  const next = await listed(cluster, { ...asked, timestamp: LATEST });
  return asked.group.map(({ topic, partition }, index) => ({
    topic,
    partition,
    first: first[index] ?? 0,
    next: next[index] ?? 0,
  }));
}

/** Where the records end in partitions that a broker leads, as those see them who leave out what is not committed. Asks once. */
export async function stableEndsAt(cluster: KafkaCluster, asked: AskedLeader): Promise<readonly number[]> {
  return await listed(cluster, { ...asked, timestamp: LATEST, isolation: "read_committed" });
}

/** Removes the records before these offsets; rejects behind the others for partitions that nobody led or whose leader did not answer. */
export async function deleteRecords(
  cluster: KafkaCluster,
  directory: Directory,
  before: readonly Position[],
): Promise<void> {
  const { failure } = await eachLeader(
    cluster,
    directory,
    { places: before, doing: "removing records" },
    async (node, group) => {
      const topics = topicsOf(group, ({ partition, offset }) => ({
        partitionIndex: partition,
        offset: BigInt(offset),
      }));
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
      return group;
    },
  );
  if (failure !== undefined) throw failure;
}

/** Partitions that are led by a broker; one that is not their leader of that epoch refuses. */
interface AskedLeader {
  readonly node: number;
  readonly group: readonly (Place & { readonly epoch?: number })[];
  readonly signal?: AbortSignal;
}

interface Listing extends AskedLeader {
  readonly timestamp: bigint;
  readonly isolation?: Isolation;
}

async function listed(cluster: KafkaCluster, listing: Listing): Promise<readonly number[]> {
  const { node, group, timestamp, isolation = "read_uncommitted", signal } = listing;
  const level = isolationLevels[isolation];
  const topics = topicsOf(group, ({ partition, epoch = ANY_LEADER }) => ({
    partitionIndex: partition,
    currentLeaderEpoch: epoch,
    timestamp,
  }));
  const answer = await cluster.askNode(
    node,
    async (connection, library) => await library.listOffsetsV7.api.async(connection, CONSUMER, level, topics),
    { signal },
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

interface Answers<T> {
  readonly answers: readonly T[];
  /** Why there is none of some places; undefined where there is one of all. */
  readonly failure: unknown;
}

/**
 * Asks the leaders of all places, until all have answered. Where some have, it ends with these once the others still have no leader after
 * another look, or do not answer in the time for a call; else it rejects.
 */
async function eachLeader<P extends Place, T>(
  cluster: KafkaCluster,
  directory: Directory,
  { places, doing }: Work<P>,
  ask: (node: number, group: readonly P[]) => Promise<readonly T[]>,
): Promise<Answers<T>> {
  const answers: T[] = [];
  const left = new Set(places);
  let again = false;
  const askLeft = async (): Promise<void> => {
    if (again) await directory.refresh();
    const led = again ? [...left].filter((place) => directory.hasLeader(place)) : [...left];
    again = true;
    if (led.length === 0 && answers.length > 0) return;
    for (const place of led.length > 0 ? led : left) directory.leader(place);
    const asking = [...directory.byLeader(led)].map(async ([node, group]) => {
      answers.push(...(await ask(node, group)));
      for (const place of group) left.delete(place);
    });
    const failed = (await Promise.allSettled(asking)).find((outcome) => outcome.status === "rejected");
    if (failed !== undefined) throw failed.reason;
  };
  try {
    await cluster.persistently(doing, askLeft);
    for (const place of left) directory.leader(place);
    return { answers, failure: undefined };
  } catch (error) {
    if (answers.length === 0 || !(error instanceof KafkaError && passing.includes(error.kind))) throw error;
    return { answers, failure: error };
  }
}

/** As requests name partitions: by topic. */
export function topicsOf<P extends Place, T>(
  places: readonly P[],
  of: (place: P) => T,
): { name: string; partitions: T[] }[] {
  const topics = new Map<string, T[]>();
  for (const place of places) {
    const partitions = topics.get(place.topic);
    if (partitions === undefined) topics.set(place.topic, [of(place)]);
    else partitions.push(of(place));
  }
  return [...topics].map(([name, partitions]) => ({ name, partitions }));
}
