import type { fetchV13, Reader } from "@platformatic/kafka";

/** What one partition answered; its records are as they came. */
export type AnsweredPartition = Omit<
  fetchV13.FetchResponsePartition,
  "logStartOffset" | "preferredReadReplica" | "records"
> & {
  readonly bytes: Buffer;
};

export interface FetchAnswer {
  /** Milliseconds for which the broker delays what comes next, because of a quota. */
  readonly throttleTimeMs: number;
  readonly errorCode: number;
  readonly responses: readonly { readonly topicId: string; readonly partitions: readonly AnsweredPartition[] }[];
}

/**
 * Reads the answer to Fetch without its records. The library decodes those of all partitions with it, and one that it cannot decode would hold
 * up all.
 */
export function fetchAnswer(_correlation: number, _key: number, _version: number, reader: Reader): FetchAnswer {
  const throttleTimeMs = reader.readInt32();
  const errorCode = reader.readInt16();
  reader.readInt32();
  return {
    throttleTimeMs,
    errorCode,
    responses: reader.readArray((ofTopics) => ({
      topicId: ofTopics.readUUID(),
      partitions: ofTopics.readArray(partitionIn),
    })),
  };
}

function partitionIn(reader: Reader): AnsweredPartition {
  const partitionIndex = reader.readInt32();
  const errorCode = reader.readInt16();
  const highWatermark = reader.readInt64();
  const lastStableOffset = reader.readInt64();
  reader.readInt64();
  const abortedTransactions = reader.readArray((ofAborted) => ({
    producerId: ofAborted.readInt64(),
    firstOffset: ofAborted.readInt64(),
  }));
  reader.readInt32();
  return { partitionIndex, errorCode, highWatermark, lastStableOffset, abortedTransactions, bytes: bytesIn(reader) };
}

/** Behind their number and one, 0 for none. */
function bytesIn(reader: Reader): Buffer {
  const size = Math.max(0, reader.readUnsignedVarInt() - 1);
  const bytes = reader.buffer.slice(reader.position, reader.position + size);
  reader.skip(size);
  return bytes;
}
