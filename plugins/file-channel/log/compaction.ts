import { type FileHandle, open as openFile, rename, rm } from "node:fs/promises";
import path from "node:path";
import { compactedEnd } from "./compacted-end.js";
import { countOf, type DoneRanges } from "./done-ranges.js";
import { COMPACTED, PRIVATE, readFully, STAT_BLOCK_BYTES, syncFolder, writeFully } from "./files.js";
import { HEADER_BYTES, readChunk, SEAL } from "./records.js";
import { SEGMENT_HEADER_BYTES, type Segment } from "./segments.js";

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
    const bytes = await writeWithoutDone(segment, done, made);
    if (bytes === undefined || bytes > segment.bytes / 2) return false;
    await rename(made, file);
    segment.compact(bytes);
    await syncFolder(path.dirname(file));
    return true;
  } finally {
    await rm(made, { force: true });
  }
}

/** Resolves to what the new file takes on the disk; undefined when an event cannot be read. */
async function writeWithoutDone(segment: Segment, done: DoneRanges, made: string): Promise<number | undefined> {
  const { file, first, last, end } = segment;
  const open = done.openIn({ from: first, to: last });
  const from = await openFile(file, "r");
  try {
    const to = await openFile(made, "w", PRIVATE);
    try {
      await writeFully(to, await readFully(from, 0, SEGMENT_HEADER_BYTES), 0);
      const copied = await copyRecords({ from, to, end }, (sequence) => first <= sequence && !done.has(sequence));
      if (copied !== open.reduce((sum, range) => sum + countOf(range), 0)) return undefined;
      await writeFully(to, compactedEnd({ first, last, end, open }), end);
      await to.sync();
      return (await to.stat()).blocks * STAT_BLOCK_BYTES;
    } finally {
      await to.close();
    }
  } finally {
    await from.close();
  }
}

interface Copied {
  readonly from: FileHandle;
  readonly to: FileHandle;
  readonly end: number;
}

/** Copies those that are wanted, and the first one, to their places; resolves to how many are wanted. */
async function copyRecords({ from, to, end }: Copied, isWanted: (sequence: number) => boolean): Promise<number> {
  let copied = 0;
  for (let at = SEGMENT_HEADER_BYTES; at < end; ) {
    const { records, next } = await readChunk(from, at, end);
    for (const { record, end: behind } of records) {
      const bytes = HEADER_BYTES + record.text.length;
      const place = behind - bytes;
      const wanted = record.flags !== SEAL && isWanted(record.sequence);
      if (wanted) copied += 1;
      if (wanted || place === SEGMENT_HEADER_BYTES) await writeFully(to, await readFully(from, place, bytes), place);
    }
    at = next;
  }
  return copied;
}
