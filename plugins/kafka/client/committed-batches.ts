import type { fetchV13, RecordsBatch } from "@platformatic/kafka";

const TRANSACTIONAL = 0b1_0000;
const CONTROL = 0b10_0000;
/** The type of the mark behind a transaction that was aborted, in its key behind the version. */
const ABORT = 0;

/** Offsets of an answer are in order, and a transaction of a producer begins behind the end of its last one. */
type Aborted = fetchV13.FetchResponsePartitionAbortedTransaction;

/** Whether it holds no record of a producer, but what a broker says of a transaction. */
export function isMark({ attributes }: RecordsBatch): boolean {
  return (attributes & CONTROL) !== 0;
}

/** The batches that hold records: not the marks of transactions, nor what was written in those that the answer names as aborted. */
export function committedBatches(
  batches: readonly RecordsBatch[],
  aborted: readonly Aborted[],
): readonly RecordsBatch[] {
  const ahead = aborted.toSorted((one, other) => (one.firstOffset < other.firstOffset ? -1 : 1));
  const producers = new Set<bigint>();
  return batches.filter((batch) => {
    while (ahead[0] !== undefined && ahead[0].firstOffset <= batch.firstOffset + BigInt(batch.lastOffsetDelta)) {
      producers.add(ahead[0].producerId);
      ahead.shift();
    }
    if (isMark(batch)) {
      if (isAbort(batch)) producers.delete(batch.producerId);
      return false;
    }
    return (batch.attributes & TRANSACTIONAL) === 0 || !producers.has(batch.producerId);
  });
}

/** Of a mark whose topic was compacted only the batch may be left. */
function isAbort({ records: [mark] }: RecordsBatch): boolean {
  return mark?.key?.readInt16BE(2) === ABORT;
}
