import type { Stats } from "node:fs";
import { type FileHandle, open, readdir, rm } from "node:fs/promises";
import path from "node:path";
import { AgentError, codeOf, type Logger, reasonOf } from "deneb/sdk";
import { bytesOnDisk, type CompactedEnd, readCompactedEnd } from "./compacted-end.js";
import { COMPACTED, newerVersion, notRead, readFully, refuseNoFile } from "./files.js";
import { ENDS_TRANSACTION, HEADER_BYTES, readChunk, readHeader, readRecord, SEAL } from "./records.js";
import { firstOf, readSegmentHeader, SEGMENT_HEADER_BYTES, SEGMENT_VERSION, Segment } from "./segments.js";

export interface FoundSegment {
  readonly segment: Segment;
  /** The channel it belongs to; undefined when its header is damaged. */
  readonly id: string | undefined;
  /** Bytes behind the last complete transaction, of an interrupted write. */
  readonly incomplete: number;
  /** The first sequence number by the name of the file; that of the first record counts. */
  readonly named: number;
  /** True when it was closed properly. */
  readonly sealed: boolean;
  /** Of a file from which events that are done were taken out: up to its last event the others are done. */
  readonly compacted: CompactedEnd | undefined;
}

/** The segments in some folders, in order. Only those that were not closed properly are read as a whole. */
export async function findSegments(folders: readonly string[], log: Logger): Promise<readonly FoundSegment[]> {
  const found: FoundSegment[] = [];
  for (const folder of folders) {
    for (const name of await readdir(folder)) {
      // A kill left what was to take the place of another file.
      if (isLeftOver(name)) await rm(path.join(folder, name), { force: true });
      const named = firstOf(name);
      const segment = named === undefined ? undefined : await inspectIfReadable(path.join(folder, name), named, log);
      if (segment !== undefined) found.push(segment);
    }
  }
  return found.sort((one, other) => one.segment.first - other.segment.first || other.segment.last - one.segment.last);
}

function isLeftOver(name: string): boolean {
  return name.endsWith(COMPACTED) && firstOf(name.slice(0, -COMPACTED.length)) !== undefined;
}

/** What the disk cannot give, or what is no file at all: its events are missing until a later start can read it. */
const UNREADABLE: ReadonlySet<string | undefined> = new Set(["EIO", "NOT_A_FILE"]);

async function inspectIfReadable(file: string, named: number, log: Logger): Promise<FoundSegment | undefined> {
  try {
    return await inspect(file, named);
  } catch (cause) {
    if (!UNREADABLE.has(codeOf(cause))) throw cause instanceof AgentError ? cause : notRead(file, cause);
    log.error({ file, reason: reasonOf(cause) }, "segment left alone: it cannot be read");
    return undefined;
  }
}

async function inspect(file: string, named: number): Promise<FoundSegment> {
  await refuseNoFile(file);
  const handle = await open(file, "r");
  try {
    const onDisk = await handle.stat();
    const { size } = onDisk;
    const header = readSegmentHeader(await readFully(handle, 0, SEGMENT_HEADER_BYTES));
    if (header !== undefined && header.version > SEGMENT_VERSION)
      throw newerVersion(file, header.version, SEGMENT_VERSION);
    const first = (await firstRecord(handle)) ?? named;
    const seal = await sealed(handle, size, first);
    const { last, end, incomplete } = seal ?? (await scanned(handle, size, first));
    const compacted = seal === undefined ? undefined : await readCompactedEnd(handle, end, last);
    const segment = new Segment(file, { first, last, ...extentOf(end, compacted, onDisk) });
    return { id: header?.id, named, segment, incomplete, sealed: seal !== undefined, compacted };
  } finally {
    await handle.close();
  }
}

function extentOf(end: number, compacted: CompactedEnd | undefined, onDisk: Stats) {
  if (compacted === undefined) return { end };
  const { stretches } = compacted;
  return { end: compacted.end, compacted: { bytes: bytesOnDisk(onDisk, compacted), stretches } };
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
 * An interrupted write ends in the middle of a record: its transaction was never acknowledged and is left out. Where bytes
 * were damaged instead, everything that can be read counts.
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

/** The id that most segments have; undefined when no header can be read. */
export function commonId(found: readonly FoundSegment[]): string | undefined {
  const counts = new Map<string, number>();
  for (const { id } of found) if (id !== undefined) counts.set(id, (counts.get(id) ?? 0) + 1);
  const [most] = [...counts].sort(([, one], [, other]) => other - one);
  return most?.[0];
}

/** The segments of a channel under any of its ids, without overlapping numbers; what is left out or inconsistent is logged. */
export function ownSegments(
  found: readonly FoundSegment[],
  own: readonly string[],
  log: Logger,
): readonly FoundSegment[] {
  const kept: FoundSegment[] = [];
  let last = 0;
  for (const one of found.filter((each) => isOurs(each, own, log))) {
    const { segment, named } = one;
    const { file, first } = segment;
    if (segment.isEmpty) {
      kept.push(one);
      continue;
    }
    if (named !== first) log.error({ file, first, last: segment.last }, "segment was renamed: read by its content");
    if (segment.last <= last) {
      log.error({ file, first, last: segment.last }, "segment left alone: another file holds the same events");
      continue;
    }
    kept.push(first > last ? one : { ...one, segment: behind(segment, last) });
    last = segment.last;
  }
  return kept;
}

function behind({ file, last, end }: Segment, before: number): Segment {
  return new Segment(file, { first: before + 1, last, end });
}

function isOurs({ segment, id, incomplete }: FoundSegment, own: readonly string[], log: Logger): boolean {
  if (id !== undefined && !own.includes(id)) {
    log.error({ file: segment.file, channel: id }, "segment of another channel left alone");
    return false;
  }
  if (incomplete > 0) {
    log.warn({ file: segment.file, bytes: incomplete }, "incomplete or damaged end of a segment left out");
  }
  return true;
}
