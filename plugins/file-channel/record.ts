import { crc32 } from "node:zlib";

/**
 * A record is a header of 24 bytes and the text of one event: mark (4), length of the text (4), sequence number (6),
 * flags (2), checksum of the text (4), checksum of the header before it (4); little-endian.
 */
export const HEADER_BYTES = 24;

/** A sequence number has 48 bits. */
export const HIGHEST_SEQUENCE = 2 ** 48 - 1;

/** The last event of a put transaction: what follows the last of these at the end of a log was never acknowledged. */
export const ENDS_TRANSACTION = 1;
/** No event: the segment was closed in good order and its last event has this sequence number. */
export const SEAL = 2;

// 0xFF is in no UTF-8 text and 0x00 in no JSON: the mark cannot occur inside the text of an event.
const MARK = Buffer.from([0xff, 0x00, 0xd5, 0x01]);

export interface RecordHeader {
  readonly sequence: number;
  readonly flags: number;
}

export interface StoredRecord extends RecordHeader {
  readonly text: Buffer;
}

/** What stands at a place: a record, the beginning of one, or bytes that are none. */
export type Reading =
  | { readonly kind: "record"; readonly record: StoredRecord; readonly next: number }
  | { readonly kind: "partial"; readonly bytes: number }
  | { readonly kind: "damaged"; readonly next: number };

/** Writes a record whose text is `length` bytes long and already in its place behind the header. */
export function sealHeader(target: Buffer, at: number, length: number, { sequence, flags }: RecordHeader): void {
  const text = at + HEADER_BYTES;
  MARK.copy(target, at);
  target.writeUInt32LE(length, at + 4);
  target.writeUIntLE(sequence, at + 8, 6);
  target.writeUInt16LE(flags, at + 14);
  target.writeUInt32LE(crc32(target.subarray(text, text + length)), at + 16);
  target.writeUInt32LE(crc32(target.subarray(at, at + 20)), at + 20);
}

/** Reads what stands at a place. After damage, `next` is the next place where a record may begin. */
export function readRecord(source: Buffer, at: number): Reading {
  const held = source.length - at;
  if (held < HEADER_BYTES) return { kind: "partial", bytes: HEADER_BYTES };
  const header = readHeader(source, at);
  if (header === undefined) return { kind: "damaged", next: nextMark(source, at + 1) };
  const bytes = HEADER_BYTES + source.readUInt32LE(at + 4);
  if (held < bytes) return { kind: "partial", bytes };
  const text = source.subarray(at + HEADER_BYTES, at + bytes);
  if (source.readUInt32LE(at + 16) !== crc32(text)) return { kind: "damaged", next: at + bytes };
  return { kind: "record", record: { sequence: header.sequence, flags: header.flags, text }, next: at + bytes };
}

/** The header at a place, whatever follows; undefined when there is none that can be read. */
export function readHeader(source: Buffer, at: number): RecordHeader | undefined {
  if (source.length - at < HEADER_BYTES || !hasMark(source, at)) return undefined;
  if (source.readUInt32LE(at + 20) !== crc32(source.subarray(at, at + 20))) return undefined;
  return { sequence: source.readUIntLE(at + 8, 6), flags: source.readUInt16LE(at + 14) };
}

function hasMark(source: Buffer, at: number): boolean {
  return source.compare(MARK, 0, MARK.length, at, at + MARK.length) === 0;
}

/** The place of the next mark; without one, the end, but for bytes that may be the beginning of a mark. */
function nextMark(source: Buffer, from: number): number {
  const found = source.indexOf(MARK, from);
  return found === -1 ? Math.max(from, source.length - MARK.length + 1) : found;
}
