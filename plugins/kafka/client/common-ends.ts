import type { Reader } from "@platformatic/kafka";
import type { KafkaCluster, Send } from "./cluster.js";
import type { Directory } from "./directory.js";
import { protocolError } from "./kafka-error.js";
import { type Position, topicsOf } from "./offsets.js";

/** The request OffsetForLeaderEpoch. */
const KEY = 23;
const VERSION = 4;
const CONSUMER = -1;
const NO_ERROR = 0;

/** A position, and the epoch of the leader whose log was read up to there. */
export type ReadPosition = Required<Position>;

interface AskedOfReaders {
  readonly node: number;
  readonly group: readonly ReadPosition[];
  readonly signal?: AbortSignal;
}

/**
 * Asks the leader of partitions up to where its log is that of the leader of the epoch, at the most up to the position: what was
 * read behind that is gone, and other records get its offsets. Asks once.
 */
export async function readCommonEnds(
  { cluster, directory }: { readonly cluster: KafkaCluster; readonly directory: Directory },
  { node, group, signal }: AskedOfReaders,
): Promise<readonly ReadPosition[]> {
  const doing = "comparing the log of the leader with what was read";
  const topics = topicsOf(group, ({ topic, partition, epoch }) => ({
    partitionIndex: partition,
    currentLeaderEpoch: directory.epoch({ topic, partition }),
    leaderEpoch: epoch,
  }));
  const present = new Map(group.map((place) => [keyOf(place), directory.epoch(place)]));
  const send: Send<Answer> = async (connection, library) => {
    const api = library.createAPI(KEY, VERSION, library.offsetForLeaderEpochV4.createRequest, endsIn);
    return await api.async(connection, CONSUMER, topics);
  };
  const answer = await cluster.askNode(node, send, { signal });
  const ends = new Map<string, number>();
  for (const { topic, partitions } of answer) {
    for (const { partition, errorCode, endOffset } of partitions) {
      if (errorCode !== NO_ERROR) throw protocolError(cluster.library, errorCode, `${doing}: topic "${topic}"`);
      // Of an epoch that it does not know it says -1.
      if (endOffset >= 0n) ends.set(keyOf({ topic, partition }), Number(endOffset));
    }
  }
  return group.map((place) => {
    const { topic, partition, offset, epoch } = place;
    const end = ends.get(keyOf(place)) ?? offset;
    return { topic, partition, offset: Math.min(offset, end), epoch: present.get(keyOf(place)) ?? epoch };
  });
}

type Answer = ReturnType<typeof endsIn>;

/** The library reads the partition before the error, which come the other way round. */
function endsIn(_correlation: number, _key: number, _version: number, reader: Reader) {
  reader.readInt32();
  return reader.readArray((ofTopics) => ({
    topic: ofTopics.readString(),
    partitions: ofTopics.readArray((ofPartitions) => {
      const errorCode = ofPartitions.readInt16();
      const partition = ofPartitions.readInt32();
      ofPartitions.readInt32();
      return { errorCode, partition, endOffset: ofPartitions.readInt64() };
    }),
  }));
}

function keyOf({ topic, partition }: Pick<Position, "topic" | "partition">): string {
  return `${topic}:${partition}`;
}
