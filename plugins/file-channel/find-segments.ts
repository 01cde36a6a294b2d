import { type FileHandle, open, readdir } from "node:fs/promises";
import path from "node:path";
import { readFully } from "./files.js";
import { readChunk } from "./read-chunk.js";
import { ENDS_TRANSACTION, HEADER_BYTES, readRecord, SEAL } from "./record.js";
import { firstOf, idOf, SEGMENT_HEADER_BYTES, Segment } from "./segment.js";

export interface FoundSegment {
  readonly segment: Segment;
  /** The channel it belongs to; undefined when its header is damaged. */
  readonly id: string | undefined;
  /** Bytes behind the last complete transaction: of a write that was cut off. */
  readonly incomplete: number;
}

/** The segments in some folders, in order. Only those that were not closed in good order are read as a whole. */
export async function findSegments(folders: readonly string[]): Promise<readonly FoundSegment[]> {
  const found: FoundSegment[] = [];
  for (const folder of folders) {
    for (const name of await readdir(folder)) {
      const first = firstOf(name);
      if (first !== undefined) found.push(await inspect(path.join(folder, name), first));
    }
  }
  return found.sort((one, other) => one.segment.first - other.segment.first);
}

async function inspect(file: string, first: number): Promise<FoundSegment> {
  const handle = await open(file, "r");
  try {
    const { size } = await handle.stat();
    const id = idOf(await readFully(handle, 0, SEGMENT_HEADER_BYTES));
    const extent = (await sealed(handle, size, first)) ?? (await scanned(handle, size, first));
    return { id, segment: new Segment(file, { first, ...extent }), incomplete: extent.incomplete };
  } finally {
    await handle.close();
  }
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
