import { unlink } from "node:fs/promises";
import path from "node:path";
import { crc32 } from "node:zlib";
import { codeOf } from "deneb/sdk";
import type { Stretch } from "./compacted-end.js";
import type { DoneRanges } from "./done-ranges.js";

const NAME = /^(\d{15})\.log$/;
const MAGIC = Buffer.from("DENEBLOG");
/** Latest version of the file format, of files from which events that are done were taken out; those of a later one are not read. */
export const SEGMENT_VERSION = 3;
/** Version of files with all their events. In those of the first one each record is JSON of an event. */
const WHOLE_VERSION = 2;
const ID_BYTES = 8;

/** A segment begins with magic (8), version (4), the id of its channel (8) and a checksum of these (4). */
export const SEGMENT_HEADER_BYTES = 24;

interface SegmentExtent {
  readonly first: number;
  readonly last: number;
  readonly end: number;
  readonly compacted?: Compacted | undefined;
}

/** A file without the records of events that are done. */
export interface Compacted {
  /** What it takes on the disk. */
  readonly bytes: number;
  /** Where the others are, in order. */
  readonly stretches: readonly Stretch[];
}

/** A file with the events of one stretch of sequence numbers, without gaps. */
export class Segment {
  readonly file: string;
  readonly first: number;
  #last: number;
  #end: number;
  #compacted: Compacted | undefined;

  constructor(file: string, { first, last, end, compacted }: SegmentExtent) {
    this.file = file;
    this.first = first;
    this.#last = last;
    this.#end = end;
    this.#compacted = compacted;
  }

  /** Sequence number of the last event in it; one less than the first when it has none. */
  get last(): number {
    return this.#last;
  }

  /** Where its last event ends. */
  get end(): number {
    return this.#end;
  }

  /** What it takes on the disk, about. */
  get bytes(): number {
    return this.#compacted?.bytes ?? this.#end;
  }

  get isEmpty(): boolean {
    return this.#last < this.first;
  }

  /** The records of events that are done are no longer in it; the others are in their places. */
  compact(compacted: Compacted): void {
    this.#compacted = compacted;
  }

  /** From where on there is something to read: at this place or behind it. */
  readableFrom(place: number): number {
    if (this.#compacted === undefined) return place;
    const next = this.#compacted.stretches.find(({ end }) => place < end);
    return next === undefined ? this.#end : Math.max(place, next.begin);
  }

  grow(last: number, end: number): void {
    this.#last = last;
    this.#end = end;
  }
}

export function segmentFile(folder: string, first: number): string {
  return path.join(folder, `${String(first).padStart(15, "0")}.log`);
}

/** The first sequence number of a segment, from the name of its file; undefined for other files. */
export function firstOf(name: string): number | undefined {
  const digits = NAME.exec(name)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** The header of a segment of this channel. */
export function segmentHeader(id: string, version = WHOLE_VERSION): Buffer {
  const header = Buffer.alloc(SEGMENT_HEADER_BYTES);
  MAGIC.copy(header, 0);
  header.writeUInt32LE(version, 8);
  header.write(id, 12, ID_BYTES, "hex");
  header.writeUInt32LE(crc32(header.subarray(0, 20)), 20);
  return header;
}

interface SegmentHeader {
  readonly version: number;
  /** The channel that the segment belongs to. */
  readonly id: string;
}

/** The content of the header of a segment; undefined when it is damaged. */
export function readSegmentHeader(header: Buffer): SegmentHeader | undefined {
  if (header.length < SEGMENT_HEADER_BYTES || header.readUInt32LE(20) !== crc32(header.subarray(0, 20)))
    return undefined;
  return { version: header.readUInt32LE(8), id: header.toString("hex", 12, 12 + ID_BYTES) };
}

/** The segments of a channel, oldest first. */
export class SegmentList {
  #segments: readonly Segment[] = [];

  /** Bytes of the segments that hold events above the low-water mark. */
  bytesAbove(low: number): number {
    let bytes = 0;
    // For each put: a function for it would be made each time.
    for (const segment of this.#segments) if (segment.last > low) bytes += segment.bytes;
    return bytes;
  }

  /** Oldest first. */
  get all(): readonly Segment[] {
    return this.#segments;
  }

  /** Whether a file other than the newest has no open event and lies behind one. */
  isDoneBehind(done: DoneRanges): boolean {
    if (done.ranges.length === 0) return false;
    return this.#segments.slice(0, -1).some((segment) => segment.last > done.low && isDone(segment, done));
  }

  /** The first one after a sequence number that has events. */
  after(first: number): Segment | undefined {
    return this.#segments.find((segment) => segment.first > first && !segment.isEmpty);
  }

  /** The file that has an event; undefined when none has it. */
  fileOf(sequence: number): string | undefined {
    return this.#segments.find(({ first, last }) => first <= sequence && sequence <= last)?.file;
  }

  add(segment: Segment): void {
    if (this.#segments.includes(segment)) return;
    this.#segments = [...this.#segments, segment].sort((one, other) => one.first - other.first);
  }

  /**
   * Removes the files whose events are all done, except the newest, which may be written to. One that cannot be removed does not keep the
   * others: the first error is thrown at the end. One that is in work stays.
   */
  async trim(done: DoneRanges, inWork: () => Segment | undefined): Promise<void> {
    let failure: { readonly error: unknown } | undefined;
    for (const segment of this.#segments.slice(0, -1).filter((one) => isDone(one, done))) {
      if (segment === inWork()) continue;
      try {
        await remove(segment.file);
        this.#segments = this.#segments.filter((one) => one !== segment);
      } catch (error) {
        failure ??= { error };
      }
    }
    if (failure !== undefined) throw failure.error;
  }
}

/** Whether a file has no open event; one without events goes when all before it are done. */
export function isDone({ first, last, isEmpty }: Segment, done: DoneRanges): boolean {
  return last <= done.low || (!isEmpty && done.hasRange({ from: first, to: last }));
}

export async function remove(file: string): Promise<void> {
  try {
    await unlink(file);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
  }
}
