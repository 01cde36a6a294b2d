import { type FileHandle, open, rename, rm } from "node:fs/promises";
import path from "node:path";
import { bytesOnDisk, compactedEnd, type Stretch } from "./compacted-end.js";
import { countOf, type DoneRanges, type Range } from "./done-ranges.js";
import { COMPACTED, PRIVATE, readFully, refuseNoFile, syncFolder, writeFully } from "./files.js";
import { HEADER_BYTES, readChunk, SEAL } from "./records.js";
import {
  type Compacted,
  readSegmentHeader,
  SEGMENT_HEADER_BYTES,
  SEGMENT_VERSION,
  type Segment,
  segmentHeader,
} from "./segments.js";

/** Bytes that are copied at once. */
const COPIED_BYTES = 1024 * 1024;

/**
 * Replaces the file of a segment by one that has holes where the records of events are that are done. The others stay in their places:
 * what is being read, or is in an index, is found there as before. The end of the file says which they are, so that the others are not
 * missing. The header of the first record stays in any case: it says where the file begins.
 *
 * Resolves to whether it was replaced: that is so when the new one takes half of the bytes at the most.
 */
export async function compact(segment: Segment, done: DoneRanges): Promise<boolean> {
  const { file } = segment;
  const made = `${file}${COMPACTED}`;
  try {
    const compacted = await writeWithoutDone(segment, done, made);
    if (compacted === undefined || compacted.bytes > segment.bytes / 2) return false;
    await rename(made, file);
    segment.compact(compacted);
    await syncFolder(path.dirname(file));
    return true;
  } finally {
    await rm(made, { force: true });
  }
}

/** Resolves to what the new file has; undefined when an event cannot be read. */
async function writeWithoutDone(segment: Segment, done: DoneRanges, made: string): Promise<Compacted | undefined> {
  const { file, first, last, end } = segment;
  await refuseNoFile(file);
  const from = await open(file, "r");
  try {
    const stretches = await stretchesOf(from, end, (sequence) => first <= sequence && !done.has(sequence));
    if (eventsOf(stretches) !== eventsOf(done.openIn({ from: first, to: last }))) return undefined;
    const to = await open(made, "w", PRIVATE);
    try {
      await writeFully(to, await headerOf(from), 0);
      await copy({ from, to }, [
        { begin: SEGMENT_HEADER_BYTES, end: SEGMENT_HEADER_BYTES + HEADER_BYTES },
        ...stretches,
      ]);
      await writeFully(to, compactedEnd({ first, last, end, stretches }), end);
      await to.sync();
      return { bytes: bytesOnDisk(await to.stat(), { end, stretches }), stretches };
    } finally {
      await to.close();
    }
  } finally {
    await from.close();
  }
}

/** Earlier agents would take what is missing for damaged: by its version they refuse the file. */
async function headerOf(from: FileHandle): Promise<Buffer> {
  const bytes = await readFully(from, 0, SEGMENT_HEADER_BYTES);
  const header = readSegmentHeader(bytes);
  return header === undefined ? bytes : segmentHeader(header.id, SEGMENT_VERSION);
}

function eventsOf(ranges: readonly Range[]): number {
  return ranges.reduce((sum, range) => sum + countOf(range), 0);
}

/** Where the records are that are wanted. */
async function stretchesOf(
  from: FileHandle,
  end: number,
  isWanted: (sequence: number) => boolean,
): Promise<readonly Stretch[]> {
  const stretches: { from: number; to: number; begin: number; end: number }[] = [];
  for (let at = SEGMENT_HEADER_BYTES; at < end; ) {
    const { records, next } = await readChunk(from, at, end);
    for (const { record, end: behind } of records) {
      const { flags, sequence, text } = record;
      if (flags === SEAL || !isWanted(sequence)) continue;
      const begin = behind - HEADER_BYTES - text.length;
      const last = stretches.at(-1);
      if (last?.to === sequence - 1 && last.end === begin) [last.to, last.end] = [sequence, behind];
      else stretches.push({ from: sequence, to: sequence, begin, end: behind });
    }
    at = next;
  }
  return stretches;
}

interface Files {
  readonly from: FileHandle;
  readonly to: FileHandle;
}

/** Copies bytes to their places in the other file. To the disk they go little by little: a put meanwhile waits for what is on the way there. */
async function copy({ from, to }: Files, places: readonly Pick<Stretch, "begin" | "end">[]): Promise<void> {
  let unsynced = 0;
  for (const { begin, end } of places) {
    for (let at = begin; at < end; at += COPIED_BYTES) {
      const bytes = await readFully(from, at, Math.min(COPIED_BYTES, end - at));
      await writeFully(to, bytes, at);
      unsynced += bytes.length;
      if (unsynced < COPIED_BYTES) continue;
      await to.datasync();
      unsynced = 0;
    }
  }
}
