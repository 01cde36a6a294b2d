import { type FileHandle, open, rename, rm } from "node:fs/promises";
import path from "node:path";
import { compactedEnd, type Stretch } from "./compacted-end.js";
import { countOf, type DoneRanges, type Range } from "./done-ranges.js";
import { COMPACTED, PRIVATE, readFully, STAT_BLOCK_BYTES, syncFolder, writeFully } from "./files.js";
import { HEADER_BYTES, readChunk, SEAL } from "./records.js";
import { type Compacted, SEGMENT_HEADER_BYTES, type Segment } from "./segments.js";

/**
 * Replaces the file of a segment by one that has holes where the records of events are that are done. The others stay in their places:
 * what is being read, or is in an index, is found there as before. The end of the file says which they are, so that the others are not
 * missing. The first record stays in any case: it says where the file begins.
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
  const from = await open(file, "r");
  try {
    const to = await open(made, "w", PRIVATE);
    try {
      await writeFully(to, await readFully(from, 0, SEGMENT_HEADER_BYTES), 0);
      const stretches = await copyRecords({ from, to, end }, (sequence) => first <= sequence && !done.has(sequence));
      if (eventsOf(stretches) !== eventsOf(done.openIn({ from: first, to: last }))) return undefined;
      await writeFully(to, compactedEnd({ first, last, end, stretches }), end);
      await to.sync();
      return { bytes: (await to.stat()).blocks * STAT_BLOCK_BYTES, stretches };
    } finally {
      await to.close();
    }
  } finally {
    await from.close();
  }
}

function eventsOf(ranges: readonly Range[]): number {
  return ranges.reduce((sum, range) => sum + countOf(range), 0);
}

interface Copied {
  readonly from: FileHandle;
  readonly to: FileHandle;
  readonly end: number;
}

/** Copies the records that are wanted, and the first one, to their places. */
async function copyRecords(
  { from, to, end }: Copied,
  isWanted: (sequence: number) => boolean,
): Promise<readonly Stretch[]> {
  const stretches: { from: number; to: number; begin: number; end: number }[] = [];
  for (let at = SEGMENT_HEADER_BYTES; at < end; ) {
    const { records, next } = await readChunk(from, at, end);
    for (const { record, end: behind } of records) {
      const { flags, sequence, text } = record;
      const bytes = HEADER_BYTES + text.length;
      const begin = behind - bytes;
      const wanted = flags !== SEAL && isWanted(sequence);
      if (wanted || begin === SEGMENT_HEADER_BYTES) await writeFully(to, await readFully(from, begin, bytes), begin);
      const last = stretches.at(-1);
      if (wanted && last?.to === sequence - 1 && last.end === begin) [last.to, last.end] = [sequence, behind];
      else if (wanted) stretches.push({ from: sequence, to: sequence, begin, end: behind });
    }
    at = next;
  }
  return stretches;
}
