import { type FileHandle, open, readdir } from "node:fs/promises";
import path from "node:path";
import { readFully } from "./files.js";
import { newerVersion } from "./newer-version.js";
import { readChunk } from "./read-chunk.js";
import { ENDS_TRANSACTION, HEADER_BYTES, readHeader, readRecord, SEAL } from "./record.js";
import { firstOf, readSegmentHeader, SEGMENT_HEADER_BYTES, SEGMENT_VERSION, Segment } from "./segment.js";

export interface FoundSegment {
  readonly segment: Segment;
  /** The channel it belongs to; undefined when its header is damaged. */
  readonly id: string | undefined;
  /** Bytes behind the last complete transaction: of a write that was cut off. */
  readonly incomplete: number;
  /** The first sequence number by the name of the file; the records tell the true one. */
  readonly named: number;
  /** True when it was closed in good order. */
  readonly sealed: boolean;
}

/** The segments in some folders, in order. Only those that were not closed in good order are read as a whole. */
export async function findSegments(folders: readonly string[]): Promise<readonly FoundSegment[]> {
  const found: FoundSegment[] = [];
  for (const folder of folders) {
    for (const name of await readdir(folder)) {
      const named = firstOf(name);
      if (named !== undefined) found.push(await inspect(path.join(folder, name), named));
    }
  }
  return found.sort((one, other) => one.segment.first - other.segment.first || other.segment.last - one.segment.last);
}

async function inspect(file: string, named: number): Promise<FoundSegment> {
  const handle = await open(file, "r");
  try {
    const { size } = await handle.stat();
    const header = readSegmentHeader(await readFully(handle, 0, SEGMENT_HEADER_BYTES));
    if (header !== undefined && header.version !== SEGMENT_VERSION)
      throw newerVersion(file, header.version, SEGMENT_VERSION);
    const first = (await firstRecord(handle)) ?? named;
    const seal = await sealed(handle, size, first);
    const { last, end, incomplete } = seal ?? (await scanned(handle, size, first));
    const segment = new Segment(file, { first, last, end });
    return { id: header?.id, named, segment, incomplete, sealed: seal !== undefined };
  } finally {
    await handle.close();
  }
}

/** The number of the first record; undefined when there is none that can be read. */
async function firstRecord(handle: FileHandle): Promise<number | undefined> {
  const header = readHeader(await readFully(handle, SEGMENT_HEADER_BYTES, HEADER_BYTES), 0);
  return header === undefined || header.flags === SEAL ? undefined : header.sequence;
}

interface Extent {
  readonly last: number;
  readonly end: number;
  readonly incomplete: number;
}

async function sealed(handle: FileHandle, size: number, first: number): Promise<Extent | undefined> {
  const end = size - HEADER_BYTES;
  if (end < SEGMENT_HEADER_BYTES) return undefined;
  const reading = readRecord(await readFully(handle, end, HEADER_BYTES), 0);
  if (reading.kind !== "record" || reading.record.flags !== SEAL || reading.record.sequence < first) return undefined;
  return { last: reading.record.sequence, end, incomplete: 0 };
}

/**
 * A write that was cut off ends in the middle of a record: the rest of its transaction was never acknowledged and is
 * left out. Where bytes were damaged instead, everything that can be read counts.
 */
async function scanned(handle: FileHandle, size: number, first: number): Promise<Extent> {
  let complete = { last: first - 1, end: Math.min(SEGMENT_HEADER_BYTES, size) };
  let readable = complete;
  let damagedAt = 0;
  for (let at = SEGMENT_HEADER_BYTES; at < size; ) {
    const chunk = await readChunk(handle, at, size);
    for (const { record, end } of chunk.records) {
      if (record.flags === SEAL || record.sequence <= readable.last) continue;
      readable = { last: record.sequence, end };
      if (record.flags === ENDS_TRANSACTION) complete = readable;
    }
    damagedAt = chunk.damagedAt ?? damagedAt;
    at = chunk.next;
  }
  const extent = damagedAt >= readable.end ? readable : complete;
  return { ...extent, incomplete: size - extent.end };
}
