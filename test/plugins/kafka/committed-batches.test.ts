import assert from "node:assert/strict";
import { test } from "node:test";
import type { RecordsBatch } from "@platformatic/kafka";
import { committedBatches } from "../../../plugins/kafka/client/committed-batches.js";

const kinds = { plain: 0, transactional: 0b1_0000, mark: 0b11_0000 } as const;
const types = { abort: 0, commit: 1 } as const;

interface Written {
  readonly at: number;
  readonly producer: number;
  readonly kind: keyof typeof kinds;
  readonly type?: keyof typeof types;
}

const write = (at: number, producer: number, kind: "plain" | "transactional"): Written => ({ at, producer, kind });
const mark = (at: number, producer: number, type?: keyof typeof types): Written => {
  return type === undefined ? { at, producer, kind: "mark" } : { at, producer, kind: "mark", type };
};

const cases: readonly {
  readonly what: string;
  readonly written: readonly Written[];
  /** The producers and first offsets of aborted transactions. */
  readonly aborted: readonly (readonly [producer: number, first: number])[];
  readonly read: readonly number[];
}[] = [
  {
    what: "a transaction behind an aborted one of its producer is read",
    written: [write(0, 7, "transactional"), mark(1, 7, "abort"), write(2, 7, "transactional"), mark(3, 7, "commit")],
    aborted: [[7, 0]],
    read: [2],
  },
  {
    what: "aborted transactions of one producer are left out, in whatever order they are named",
    written: [write(0, 7, "transactional"), mark(1, 7, "abort"), write(2, 7, "transactional"), write(3, 8, "plain")],
    aborted: [
      [7, 2],
      [7, 0],
    ],
    read: [3],
  },
  {
    what: "what another producer wrote meanwhile is read, with and without a transaction",
    written: [write(4, 7, "transactional"), write(5, 8, "transactional"), write(6, 7, "plain"), mark(7, 8, "commit")],
    aborted: [[7, 0]],
    read: [5, 6],
  },
  {
    what: "a mark that compaction has emptied ends nothing",
    written: [write(4, 7, "transactional"), mark(5, 7), write(6, 7, "transactional")],
    aborted: [[7, 4]],
    read: [],
  },
];

for (const { what, written, aborted, read } of cases)
  test(what, () => {
    const named = aborted.map(([producer, first]) => ({ producerId: BigInt(producer), firstOffset: BigInt(first) }));

    const committed = committedBatches(written.map(batchOf), named);

    assert.deepEqual(
      committed.map(({ firstOffset }) => Number(firstOffset)),
      read,
    );
  });

function batchOf({ at, producer, kind, type }: Written): RecordsBatch {
  const key = type === undefined ? null : Buffer.from([0, 0, 0, types[type]]);
  const record = { length: 0, attributes: 0, timestampDelta: 0n, offsetDelta: 0, key, value: null, headers: [] };
  return {
    firstOffset: BigInt(at),
    length: 0,
    partitionLeaderEpoch: 0,
    magic: 2,
    crc: 0,
    attributes: kinds[kind],
    lastOffsetDelta: 0,
    firstTimestamp: 0n,
    maxTimestamp: 0n,
    producerId: BigInt(producer),
    producerEpoch: 0,
    firstSequence: 0,
    records: kind === "mark" && type === undefined ? [] : [record],
  };
}
