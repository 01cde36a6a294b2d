import zlib from "node:zlib";
import { codeOf, reasonOf } from "deneb/sdk";
import type { DecodingRoom } from "./decoding-room.js";
import type { Library } from "./library.js";
import { lz4Length, snappyLength } from "./uncompressed-length.js";

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
