import zlib from "node:zlib";
import { codeOf, reasonOf } from "deneb/sdk";
import type { DecodingRoom } from "./decoding-room.js";
import type { Library } from "./library.js";

/** Undefined where more bytes would come of them than there may. */
type Decompress = (bytes: Buffer, most: number) => Buffer | undefined;

/** What is compressed in a way with this number. */
export function decompressed(library: Library, compression: number, bytes: Buffer, room: DecodingRoom): Buffer {
  const decompress = waysOf(library).get(compression);
  const { bitmask, available } = library.compressionsAlgorithms.zstd;
  if (compression === bitmask && !available)
    throw new Error("are compressed with zstd, which takes Node.js 22.15 or later");
  if (decompress === undefined) throw new Error(`are compressed in a way without a name, ${compression}`);
  let records: Buffer | undefined;
  try {
    records = decompress(bytes, room.most);
  } catch (cause) {
    if (codeOf(cause) !== "ERR_BUFFER_TOO_LARGE")
      throw new Error(`cannot be decompressed (${reasonOf(cause)})`, { cause });
  }
  if (records === undefined) throw room.exceeded();
  return records;
}

/** Those of the library for gzip and zstd take no limit. */
function waysOf({ compressionsAlgorithms: { gzip, snappy, lz4, zstd } }: Library): ReadonlyMap<number, Decompress> {
  return new Map<number, Decompress>([
    [gzip.bitmask, (bytes, most) => zlib.gunzipSync(bytes, { maxOutputLength: most })],
    [
      snappy.bitmask,
      (bytes, most) => {
        const blocks = snappyBlocks(bytes);
        const length = blocks.reduce((sum, block) => sum + snappyLength(block), 0);
        return length > most ? undefined : Buffer.concat(blocks.map((block) => snappy.decompressSync(block)));
      },
    ],
    [lz4.bitmask, (bytes, most) => (lz4Length(bytes) > most ? undefined : lz4.decompressSync(bytes))],
    [zstd.bitmask, unzstd],
  ]);
}

/** In Node.js from 22.15 on, and so not in the types of earlier ones. */
function unzstd(bytes: Buffer, most: number): Buffer | undefined {
  const decompress: unknown = Reflect.get(zlib, "zstdDecompressSync");
  const records: unknown = typeof decompress === "function" && decompress(bytes, { maxOutputLength: most });
  return Buffer.isBuffer(records) ? records : undefined;
}

/** With it the frame begins that the clients and brokers of Kafka put around blocks of snappy; two numbers of its version follow. */
const FRAME = Buffer.from("\x82SNAPPY\0", "latin1");
const BLOCKS_AT = 16;
const LENGTH_BYTES = 4;

/** The blocks of what is compressed with snappy: behind their lengths as Java writes it, or a single one as others do. */
function snappyBlocks(bytes: Buffer): readonly Buffer[] {
  if (!bytes.subarray(0, FRAME.length).equals(FRAME)) return [bytes];
  const blocks: Buffer[] = [];
  for (let at = BLOCKS_AT; at < bytes.length; ) {
    const from = at + LENGTH_BYTES;
    const end = from + bytes.readUInt32BE(at);
    if (end > bytes.length) throw new Error("a block of snappy is cut off");
    blocks.push(bytes.subarray(from, end));
    at = end;
  }
  return blocks;
}

/** How many bytes come of a block of snappy: it begins with the number, seven bits in each byte. */
function snappyLength(block: Buffer): number {
  let length = 0;
  for (let at = 0, factor = 1; ; at += 1, factor *= 128) {
    const byte = block.readUInt8(at);
    length += (byte & 0x7f) * factor;
    if (byte < 0x80) return length;
  }
}

const LZ4_MAGIC = 0x184d2204;
const LZ4_FLAGS_AT = 4;
const LZ4_BLOCKS_AT = 7;
const HAS_CONTENT_SIZE = 0b1000;
const HAS_BLOCK_CHECKSUM = 0b1_0000;
const HAS_DICTIONARY = 0b1;
const IS_STORED = 0x8000_0000;

/** How many come of a frame of lz4: the sum of its blocks, since its head need not say it, and may say anything. */
function lz4Length(frame: Buffer): number {
  if (frame.readUInt32LE(0) !== LZ4_MAGIC) throw new Error("no frame of lz4");
  const flags = frame.readUInt8(LZ4_FLAGS_AT);
  const behindBlock = (flags & HAS_BLOCK_CHECKSUM) === 0 ? 0 : 4;
  let at = LZ4_BLOCKS_AT + ((flags & HAS_CONTENT_SIZE) === 0 ? 0 : 8) + ((flags & HAS_DICTIONARY) === 0 ? 0 : 4);
  let length = 0;
  for (;;) {
    const size = frame.readUInt32LE(at);
    if (size === 0) return length;
    const from = at + 4;
    const end = from + (size & ~IS_STORED);
    if (end > frame.length) throw new Error("a block of lz4 is cut off");
    length += size >= IS_STORED ? end - from : blockLength(frame.subarray(from, end));
    at = end + behindBlock;
  }
}

/** Of a block: literals, and what is repeated of the bytes before, both with their lengths. */
function blockLength(block: Buffer): number {
  let length = 0;
  let at = 0;
  const read = (nibble: number): number => {
    let sum = nibble;
    for (let byte = nibble === 15 ? 255 : 0; byte === 255; sum += byte) byte = block.readUInt8(at++);
    return sum;
  };
  while (at < block.length) {
    const token = block.readUInt8(at++);
    const literals = read(token >> 4);
    at += literals + 2;
    length += literals;
    // The last ones repeat nothing.
    if (at < block.length) length += read(token & 15) + 4;
  }
  return length;
}
