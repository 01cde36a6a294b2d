import type { RecordsBatch } from "@platformatic/kafka";
import { reasonOf } from "deneb/sdk";
import type { DecodingRoom } from "./decoding-room.js";
import { decompressed } from "./decompression.js";
import type { Library } from "./library.js";

/** Where things stand in a batch, in bytes from its beginning. */
const LENGTH_AT = 8;
const MAGIC_AT = 16;
const CHECKSUM_AT = 17;
const ATTRIBUTES_AT = 21;
const COUNT_AT = 57;
const RECORDS_AT = 61;
/** What is before the bytes that the length counts. */
const BEFORE_LENGTH = 12;
const MAGIC = 2;
const COMPRESSION = 0b111;

/** Batches of a partition in order, up to one that cannot be decoded. */
interface ReadBatches {
  readonly batches: readonly RecordsBatch[];
  /** Why that one cannot; absent where all were decoded. */
  readonly fault?: string;
}

/**
 * Decodes what a broker has sent of a partition, while there is room. The last batch may be cut off; what is there of it is left out.
 */
export function readBatches(library: Library, bytes: Buffer, room: DecodingRoom): ReadBatches {
  const batches: RecordsBatch[] = [];
  for (let at = 0; bytes.length - at >= BEFORE_LENGTH && !room.isFull; ) {
    const end = at + BEFORE_LENGTH + bytes.readInt32BE(at + LENGTH_AT);
    if (end > bytes.length) break;
    const batch = bytes.subarray(at, end);
    try {
      batches.push(batchOf(library, batch, room));
    } catch (error) {
      return { batches, fault: `the records from offset ${batch.readBigInt64BE(0)} on ${reasonOf(error)}` };
    }
    at = end;
  }
  return { batches };
}

function batchOf(library: Library, batch: Buffer, room: DecodingRoom): RecordsBatch {
  const magic = batch.readInt8(MAGIC_AT);
  if (magic !== MAGIC) throw new Error(`are of format ${magic}, which Kafka wrote before version 0.11`);
  // A decoder could take memory for damaged ones without end.
  if (library.crc32c(batch.subarray(ATTRIBUTES_AT)) !== batch.readUInt32BE(CHECKSUM_AT)) throw new Error("are damaged");
  const plain = uncompressed(library, batch, room);
  room.take(plain.length, plain.readInt32BE(COUNT_AT), library.Reader.from(plain.subarray(RECORDS_AT)));
  return library.readRecordsBatch(library.Reader.from(plain));
}

/** The same batch without compression. */
function uncompressed(library: Library, batch: Buffer, room: DecodingRoom): Buffer {
  const attributes = batch.readInt16BE(ATTRIBUTES_AT);
  const compression = attributes & COMPRESSION;
  if (compression === 0) return batch;
  const head = Buffer.from(batch.subarray(0, RECORDS_AT));
  head.writeInt16BE(attributes & ~COMPRESSION, ATTRIBUTES_AT);
  return Buffer.concat([head, decompressed(library, compression, batch.subarray(RECORDS_AT), room)]);
}
