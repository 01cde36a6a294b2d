import { crc32 } from "node:zlib";

/** A file of the data directory as a later version would write it; the fixture knows the names. */
export interface LaterFile {
  readonly name: string;
  readonly file: string;
  /** The version that it is given; 2 when absent. */
  readonly version?: number;
  /** The content of version 1 in the next version. */
  later(content: Buffer): Buffer;
}

const VERSION = 2;
const SEGMENT_VERSION = 4;
const SLOT_BYTES = 32 * 1024;

export const laterFiles: readonly LaterFile[] = [
  {
    name: "the ledger",
    file: "ledger.json",
    later: (content) => Buffer.from(JSON.stringify({ version: VERSION, books: JSON.parse(content.toString()) })),
  },
  {
    name: "the list of erasures",
    file: "erasures.json",
    later: (content) => Buffer.from(JSON.stringify({ version: VERSION, erasures: JSON.parse(content.toString()) })),
  },
  {
    name: "what was in the hands of sinks",
    file: "in-hand",
    later: (content) => Buffer.concat([Buffer.from(`version ${VERSION}\n`), content]),
  },
  {
    name: "dead letters, with a torn last line,",
    file: "dead-letters/refused.ndjson",
    later: (content) => Buffer.concat([content, Buffer.from(`{"version":${VERSION},"letter":"x"}\n{"version":2,"le`)]),
  },
  { name: "the checkpoint of a channel", file: "channels/away/checkpoint/checkpoint", later: laterCheckpoint },
  {
    name: "a shorter checkpoint with other members",
    file: "channels/away/checkpoint/checkpoint",
    later: () => slotOf({ version: VERSION, other: true }),
  },
  {
    name: "a segment of a channel",
    file: "channels/away/data/000000000000001.log",
    version: SEGMENT_VERSION,
    later: laterSegment,
  },
];

function laterCheckpoint(content: Buffer): Buffer {
  const copy = Buffer.from(content);
  for (const at of [0, SLOT_BYTES]) {
    const text = copy.subarray(at + 8, at + 8 + copy.readUInt32LE(at)).toString();
    if (text !== "") slotOf({ ...JSON.parse(text), version: VERSION }).copy(copy, at);
  }
  return copy;
}

function slotOf(content: object): Buffer {
  const text = Buffer.from(JSON.stringify(content));
  const prefix = Buffer.alloc(8);
  prefix.writeUInt32LE(text.length, 0);
  prefix.writeUInt32LE(crc32(text), 4);
  return Buffer.concat([prefix, text]);
}

function laterSegment(content: Buffer): Buffer {
  const copy = Buffer.from(content);
  copy.writeUInt32LE(SEGMENT_VERSION, 8);
  copy.writeUInt32LE(crc32(copy.subarray(0, 20)), 20);
  return copy;
}
