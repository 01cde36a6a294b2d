import type { FileHandle } from "node:fs/promises";
import type { Indexed } from "./backlog.js";
import { notRead, openSegment, readFully } from "./files.js";
import { readRecord } from "./records.js";
import type { SegmentList } from "./segments.js";

/** Records with no more than this between them are read at once. */
const NEAR = 65_536;
const MOST_AT_ONCE = 1_048_576;

/** A stretch of a file with events that were chosen. */
interface Stretch {
  readonly file: string;
  readonly from: number;
  to: number;
  readonly places: Indexed[];
}

/** Reads the texts of events by their places, ascending ones; those that are missing in the result can no longer be read. */
export async function readChosen(
  places: readonly Indexed[],
  segments: SegmentList,
): Promise<ReadonlyMap<number, Buffer>> {
  const found = new Map<number, Buffer>();
  let opened: { readonly file: string; readonly handle: FileHandle | undefined } | undefined;
  try {
    for (const stretch of stretchesOf(places, segments)) {
      if (opened?.file !== stretch.file) {
        await opened?.handle?.close();
        opened = undefined;
        opened = { file: stretch.file, handle: await openSegment(stretch.file) };
      }
      if (opened.handle !== undefined) await readStretch(opened.handle, stretch, found);
    }
  } finally {
    await opened?.handle?.close();
  }
  return found;
}

function stretchesOf(places: readonly Indexed[], segments: SegmentList): readonly Stretch[] {
  const stretches: Stretch[] = [];
  for (const place of places) {
    const { sequence, offset, bytes } = place;
    const file = segments.fileOf(sequence);
    if (file === undefined) continue;
    const last = stretches.at(-1);
    const to = offset + bytes;
    const isNear = last?.file === file && offset >= last.to && offset - last.to <= NEAR;
    if (last !== undefined && isNear && to - last.from <= MOST_AT_ONCE) {
      last.to = to;
      last.places.push(place);
    } else stretches.push({ file, from: offset, to, places: [place] });
  }
  return stretches;
}

async function readStretch(handle: FileHandle, { file, from, to, places }: Stretch, found: Map<number, Buffer>) {
  const bytes = await readFully(handle, from, to - from).catch((cause: unknown) => {
    throw notRead(file, cause);
  });
  for (const { sequence, offset } of places) {
    const reading = readRecord(bytes, Math.min(offset - from, bytes.length));
    if (reading.kind !== "record" || reading.record.sequence !== sequence) continue;
    found.set(sequence, reading.record.text);
  }
}
