import assert from "node:assert/strict";
import { test } from "node:test";
import { loadLibrary } from "../../../plugins/kafka/client/library.js";
import { readBatches } from "../../../plugins/kafka/client/record-batches.js";

const library = await loadLibrary();
const { compressionsAlgorithms: algorithms } = library;

const RECORDS_AT = 61;
const ATTRIBUTES_AT = 21;

type Compress = (records: Buffer) => Buffer;

/** A batch of two records at this offset; the records compressed in this way, with the number that says so. */
function batchAt(offset: number, compression = 0, compress: Compress = (records) => records): Buffer {
  const messages = ["a", "b"].map((text) => ({ topic: "t", value: Buffer.from(`${text}${offset}`.repeat(500)) }));
  const plain = library.createRecordsBatch(messages, {}).buffer;
  const head = Buffer.from(plain.subarray(0, RECORDS_AT));
  const records = compress(plain.subarray(RECORDS_AT));
  head.writeBigInt64BE(BigInt(offset), 0);
  head.writeInt32BE(RECORDS_AT - 12 + records.length, 8);
  head.writeInt16BE(compression, ATTRIBUTES_AT);
  return Buffer.concat([head, records]);
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
  readBatches(library, bytes).batches.map(({ firstOffset, records }) => [
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
  ["are damaged", batchAt(6, 1), /^the records from offset 6 on cannot be decompressed \(incorrect header check\)$/],
  ["are of an old format", Buffer.from(batchAt(6)).fill(1, 16, 17), /on are of format 1, which Kafka wrote before/],
];

for (const [what, batch, says] of faulty)
  test(`records that ${what} are named, and those before them are read`, () => {
    const bytes = Buffer.concat([batchAt(4), batch, batchAt(8)]);

    assert.deepEqual(valuesOf(bytes), [[4, "a4", "b4"]]);
    assert.match(readBatches(library, bytes).fault ?? "", says);
  });
