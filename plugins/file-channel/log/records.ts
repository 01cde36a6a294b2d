import type { FileHandle } from "node:fs/promises";
import { crc32 } from "node:zlib";
import { readFully } from "./files.js";

/**
 * A record is a header of 24 bytes and the text of one event: mark (4), length of the text (4), sequence number (6),
 * flags (2), checksum of the text (4), checksum of the header before it (4); little-endian.
 */
export const HEADER_BYTES = 24;

/** A sequence number has 48 bits. */
export const HIGHEST_SEQUENCE = 2 ** 48 - 1;

/**
 * How far the numbers continue after an unclean end: more than a process can have assigned without a record on disk, and
 * few enough for 16 million unclean ends. Earlier versions continued by a multiple of it.
 */
export const NUMBERS_OF_ONE_RUN = 2 ** 24;

/** The last event of a put transaction: records behind the last of these at the end of a log were never acknowledged. */
export const ENDS_TRANSACTION = 1;
/** Not an event: the segment was closed properly, and its last event has this sequence number. */
export const SEAL = 2;

// 0xFF is in no UTF-8 text and 0x00 in no JSON: the mark cannot occur inside the text of an event.
const MARK = Buffer.from([0xff, 0x00, 0xd5, 0x01]);

interface RecordHeader {
  readonly sequence: number;
  readonly flags: number;
}

interface StoredRecord extends RecordHeader {
  readonly text: Buffer;
}

/** The bytes at an offset: a record, the beginning of one, or damaged bytes. */
type Reading =
  | { readonly kind: "record"; readonly record: StoredRecord; readonly next: number }
  | { readonly kind: "partial"; readonly bytes: number }
  | { readonly kind: "damaged"; readonly next: number };

/** Where each header is made, so that no view of it has to be made for its checksum. */
const HEADER = Buffer.alloc(HEADER_BYTES);
MARK.copy(HEADER);
const CHECKED = HEADER.subarray(0, 20);

/** Writes the header of a record whose text of `length` bytes is already behind it. */
function sealHeader(target: Buffer, at: number, length: number, { sequence, flags }: RecordHeader): void {
  const text = at + HEADER_BYTES;
  HEADER.writeUInt32LE(length, 4);
  HEADER.writeUIntLE(sequence, 8, 6);
  HEADER.writeUInt16LE(flags, 14);
  HEADER.writeUInt32LE(crc32(target.subarray(text, text + length)), 16);
  HEADER.writeUInt32LE(crc32(CHECKED), 20);
  target.set(HEADER, at);
}

/** Reads the bytes at an offset. After damage, `next` is the next offset where a record may begin. */
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

/** The header at an offset, whatever follows; undefined when none can be read. */
export function readHeader(source: Buffer, at: number): RecordHeader | undefined {
  if (source.length - at < HEADER_BYTES || !hasMark(source, at)) return undefined;
  if (source.readUInt32LE(at + 20) !== crc32(source.subarray(at, at + 20))) return undefined;
  return { sequence: source.readUIntLE(at + 8, 6), flags: source.readUInt16LE(at + 14) };
}

function hasMark(source: Buffer, at: number): boolean {
  return source.compare(MARK, 0, MARK.length, at, at + MARK.length) === 0;
}

/** The offset of the next mark; without one, the end, less bytes that may be the beginning of a mark. */
function nextMark(source: Buffer, from: number): number {
  const found = source.indexOf(MARK, from);
  return found === -1 ? Math.max(from, source.length - MARK.length + 1) : found;
}

/** The text of one event, in two parts that are written one after the other: as one text, all of it would be made once more. */
export interface RecordText {
  readonly head: string;
  readonly rest: string;
  /** Of both. */
  readonly bytes: number;
}

/** The texts of the events of one put transaction. */
export interface PutTexts {
  readonly texts: readonly RecordText[];
}

export function recordText(head: string, rest = ""): RecordText {
  return { head, rest, bytes: Buffer.byteLength(head) + Buffer.byteLength(rest) };
}

/** The bytes that the record of a text takes. */
export function sizeOf({ bytes }: RecordText): number {
  return HEADER_BYTES + bytes;
}

/** The bytes that texts take in a segment. */
export function storedBytes(texts: readonly RecordText[]): number {
  let bytes = 0;
  for (let index = 0; index < texts.length; index += 1) bytes += HEADER_BYTES + (texts[index]?.bytes ?? 0);
  return bytes;
}

/** The records of several puts, one after the other, numbered from `first`. */
export function encodeGroup(puts: readonly PutTexts[], first: number): Buffer {
  const target = Buffer.allocUnsafe(puts.reduce((sum, { texts }) => sum + storedBytes(texts), 0));
  let at = 0;
  let sequence = first;
  for (const { texts } of puts) {
    at = encodePut(target, at, texts, sequence);
    sequence += texts.length;
  }
  return target;
}

/** Returns where the records end. */
function encodePut(target: Buffer, from: number, texts: readonly RecordText[], first: number): number {
  let at = from;
  for (let index = 0; index < texts.length; index += 1) {
    const text = texts[index];
    if (text === undefined) continue;
    writeText(target, at + HEADER_BYTES, text);
    const flags = index === texts.length - 1 ? ENDS_TRANSACTION : 0;
    sealHeader(target, at, text.bytes, { sequence: first + index, flags });
    at += sizeOf(text);
  }
  return at;
}

function writeText(target: Buffer, at: number, { head, rest, bytes }: RecordText): void {
  // ASCII alone is copied without a conversion.
  const encoding = bytes === head.length + rest.length ? "latin1" : "utf8";
  const end = at + target.write(head, at, encoding);
  if (rest !== "") target.write(rest, end, encoding);
}

/** The record that closes a segment; with a text one before it, which no reader takes for an event. */
export function encodeSeal(last: number, text = ""): Buffer {
  const target = Buffer.alloc(HEADER_BYTES + Buffer.byteLength(text));
  const length = target.write(text, HEADER_BYTES);
  sealHeader(target, 0, length, { sequence: last, flags: SEAL });
  return target;
}

/** Bytes read from a segment at once; more only for a record that is larger. */
const CHUNK_BYTES = 1024 * 1024;

interface Placed {
  readonly record: StoredRecord;
  /** Where the record ends in the file. */
  readonly end: number;
}

export interface Chunk {
  readonly records: readonly Placed[];
  /** Where to continue. */
  readonly next: number;
  /** The last offset without a record; undefined when there is none. */
  readonly damagedAt: number | undefined;
}

/** Reads the records that begin at `from`, about a chunk of them and none beyond `to`; damaged ones are left out. */
export async function readChunk(file: FileHandle, from: number, to: number): Promise<Chunk> {
  for (let wanted = CHUNK_BYTES; ; ) {
    const bytes = await readFully(file, from, Math.min(wanted, to - from));
    const isLast = from + bytes.length >= to || bytes.length < Math.min(wanted, to - from);
    const { records, at, needs, damagedAt } = recordsIn(bytes, from);
    if (isLast) return { records, next: to, damagedAt };
    if (at > 0) return { records, next: from + at, damagedAt };
    wanted = needs;
  }
}

function recordsIn(bytes: Buffer, from: number) {
  const records: Placed[] = [];
  let damagedAt: number | undefined;
  let at = 0;
  for (;;) {
    const reading = readRecord(bytes, at);
    if (reading.kind === "partial") return { records, at, needs: reading.bytes, damagedAt };
    if (reading.kind === "record") records.push({ record: reading.record, end: from + reading.next });
    else damagedAt = from + at;
    at = reading.next;
  }
}
