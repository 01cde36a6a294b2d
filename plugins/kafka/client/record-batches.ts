import type { RecordsBatch } from "@platformatic/kafka";
import { reasonOf } from "deneb/sdk";
import type { Library } from "./library.js";
import { snappyUncompressed } from "./snappy-blocks.js";

/** Where things stand in a batch, in bytes from its beginning. */
const LENGTH_AT = 8;
const MAGIC_AT = 16;
const ATTRIBUTES_AT = 21;
const RECORDS_AT = 61;
/** What is before the bytes that the length counts. */
const BEFORE_LENGTH = 12;
const MAGIC = 2;
const COMPRESSION = 0b111;
const SNAPPY = 2;
const ZSTD = 4;

/** Batches of a partition in order, up to one that cannot be decoded. */
interface ReadBatches {
  readonly batches: readonly RecordsBatch[];
  /** Why that one cannot; absent where all were decoded. */
  readonly fault?: string;
}

/** Decodes what a broker has sent of a partition. The last batch may be cut off; what is there of it is left out. */
export function readBatches(library: Library, bytes: Buffer): ReadBatches {
  const batches: RecordsBatch[] = [];
  for (let at = 0; bytes.length - at >= BEFORE_LENGTH; ) {
    const end = at + BEFORE_LENGTH + bytes.readInt32BE(at + LENGTH_AT);
    if (end > bytes.length) break;
    const batch = bytes.subarray(at, end);
    try {
      batches.push(library.readRecordsBatch(library.Reader.from(uncompressed(library, batch))));
    } catch (error) {
      return { batches, fault: `the records from offset ${batch.readBigInt64BE(0)} on ${reasonOf(error)}` };
    }
    at = end;
  }
  return { batches };
}

/** The same batch without compression. */
function uncompressed(library: Library, batch: Buffer): Buffer {
  const magic = batch.readInt8(MAGIC_AT);
  if (magic !== MAGIC) throw new Error(`are of format ${magic}, which Kafka wrote before version 0.11`);
  const attributes = batch.readInt16BE(ATTRIBUTES_AT);
  const compression = attributes & COMPRESSION;
  if (compression === 0) return batch;
  const head = Buffer.from(batch.subarray(0, RECORDS_AT));
  head.writeInt16BE(attributes & ~COMPRESSION, ATTRIBUTES_AT);
  return Buffer.concat([head, recordsOf(library, compression, batch.subarray(RECORDS_AT))]);
}

function recordsOf({ compressionsAlgorithmsByBitmask }: Library, compression: number, bytes: Buffer): Buffer {
  const algorithm = compressionsAlgorithmsByBitmask[compression];
  if (compression === ZSTD && algorithm?.available !== true)
    throw new Error("are compressed with zstd, which takes Node.js 22.15 or later");
  if (algorithm === undefined) throw new Error(`are compressed in a way without a name, ${compression}`);
  const decompress = (block: Buffer) => algorithm.decompressSync(block);
  try {
    return compression === SNAPPY ? snappyUncompressed(bytes, decompress) : decompress(bytes);
  } catch (cause) {
    throw new Error(`cannot be decompressed (${reasonOf(cause)})`, { cause });
  }
}
