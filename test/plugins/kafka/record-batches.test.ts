import assert from "node:assert/strict";
import { test } from "node:test";
import { DecodingRoom } from "../../../plugins/kafka/client/decoding-room.js";
import { loadLibrary } from "../../../plugins/kafka/client/library.js";
import { readBatches } from "../../../plugins/kafka/client/record-batches.js";

const library = await loadLibrary();
const { compressionsAlgorithms: algorithms } = library;

const RECORDS_AT = 61;
const ATTRIBUTES_AT = 21;
const COUNT_AT = 57;

type Compress = (records: Buffer) => Buffer;

/** A batch of two records at this offset; the records compressed in this way, with the number that says so. */
function batchAt(offset: number, compression = 0, compress: Compress = (records) => records): Buffer {
  const messages = ["a", "b"].map((text) => ({ topic: "t", value: Buffer.from(`${text}${offset}`.repeat(500)) }));
  const plain = library.createRecordsBatch(messages, {}).buffer;
  return batchOf(plain.subarray(0, RECORDS_AT), compress(plain.subarray(RECORDS_AT)), { offset, compression });
}

function batchOf(head: Buffer, records: Buffer, { offset = 0, compression = 0 }): Buffer {
  const batch = Buffer.concat([head, records]);
  batch.writeBigInt64BE(BigInt(offset), 0);
  batch.writeInt32BE(RECORDS_AT - 12 + records.length, 8);
  batch.writeInt16BE(compression, ATTRIBUTES_AT);
  batch.writeUInt32BE(library.crc32c(batch.subarray(ATTRIBUTES_AT)), 17);
  return batch;
}

/** As Java writes it: blocks behind a head and their lengths. */
function javaSnappy(records: Buffer): Buffer {
  const head = Buffer.concat([Buffer.from("\x82SNAPPY\0", "latin1"), Buffer.from([0, 0, 0, 1, 0, 0, 0, 1])]);
  const half = Math.ceil(records.length / 2);
  const blocks = [records.subarray(0, half), records.subarray(half)].flatMap((part) => {
    const block = algorithms.snappy.compressSync(part);
    const length = Buffer.alloc(4);
    length.writeInt32BE(block.length);
    return [length, block];
  });
  return Buffer.concat([head, ...blocks]);
}

const ways: readonly (readonly [what: string, compression: number, compress?: Compress])[] = [
  ["are not compressed", 0],
  ["are compressed with gzip", 1, algorithms.gzip.compressSync],
  ["are compressed with snappy in one block", 2, algorithms.snappy.compressSync],
  ["are compressed with snappy in blocks, as Java writes them", 2, javaSnappy],
  ["are compressed with lz4", 3, algorithms.lz4.compressSync],
];

const valuesOf = (bytes: Buffer) =>
  readBatches(library, bytes, new DecodingRoom()).batches.map(({ firstOffset, records }) => [
    Number(firstOffset),
    ...records.map(({ value }) => value?.toString("latin1", 0, 2)),
  ]);

for (const [what, compression, compress] of ways)
  test(`records that ${what} are read, up to a batch that is cut off`, () => {
    const bytes = Buffer.concat([batchAt(4, compression, compress), batchAt(6), batchAt(8)]);

    assert.deepEqual(valuesOf(bytes.subarray(0, -1)), [
      [4, "a4", "b4"],
      [6, "a6", "b6"],
    ]);
  });

const faulty: readonly (readonly [what: string, batch: Buffer, says: RegExp])[] = [
  ["no decoder knows", batchAt(6, 5), /^the records from offset 6 on are compressed in a way without a name, 5$/],
  ["are not compressed as they say", batchAt(6, 1), /on cannot be decompressed \(incorrect header check\)$/],
  ["are damaged", Buffer.from(batchAt(6)).fill(1, 90, 91), /^the records from offset 6 on are damaged$/],
  ["are of an old format", Buffer.from(batchAt(6)).fill(1, 16, 17), /on are of format 1, which Kafka wrote before/],
];

for (const [what, batch, says] of faulty)
  test(`records that ${what} are named, and those before them are read`, () => {
    const bytes = Buffer.concat([batchAt(4), batch, batchAt(8)]);

    assert.deepEqual(valuesOf(bytes), [[4, "a4", "b4"]]);
    assert.match(readBatches(library, bytes, new DecodingRoom()).fault ?? "", says);
  });

/** Much smaller when they are compressed. */
const zeros = Buffer.alloc(3_000_000);
const bombs: readonly (readonly [what: string, batch: Buffer])[] = ways
  .filter(([, compression]) => compression > 0)
  .map(([what, compression, compress = (records) => records]) => [
    what,
    batchAt(6, compression, (records) => compress(Buffer.concat([records, zeros]))),
  ]);
const small = library.createRecordsBatch([{ topic: "t", value: Buffer.alloc(1) }], {}).buffer;
const many = Buffer.concat(Array.from({ length: 10_000 }, () => small.subarray(RECORDS_AT)));
const head = Buffer.from(small.subarray(0, RECORDS_AT));
head.writeInt32BE(10_000, COUNT_AT);
const manyHeaders = Buffer.from([0, 0, 0, 0, 1, 1, 0x80, 0x89, 0x7a]);

for (const [what, batch] of [
  ...bombs,
  ["are many and small", batchOf(head, many, { offset: 6 })] as const,
  ["have many headers", batchOf(small.subarray(0, RECORDS_AT), manyHeaders, { offset: 6 })] as const,
])
  test(`records that ${what} are named where they take more memory than there is for them`, () => {
    const room = new DecodingRoom(8 * 2 ** 20);

    const { batches, fault = "" } = readBatches(library, Buffer.concat([batchAt(4), batch]), room);

    assert.equal(batches.length, 1);
    assert.match(
      fault,
      /^the records from offset 6 on take more than 2097152 bytes of memory, the most that this agent/,
    );
  });

test("no more batches are decoded together than there is memory for", () => {
  const bytes = Buffer.concat([batchAt(4), batchAt(6), batchAt(8)]);
  const room = new DecodingRoom(4 * 5000);

  const { batches, fault } = readBatches(library, bytes, room);

  assert.deepEqual([batches.length, fault, room.isFull], [2, undefined, true]);
});
