import type { TextCodecs } from "deneb/sdk";
import type { QueuedEvent } from "deneb/sdk/channel";
import type { DoneRanges, Range } from "./done-ranges.js";
import { notRead, openSegment } from "./files.js";
import { type Chunk, readChunk, SEAL } from "./records.js";
import { SEGMENT_HEADER_BYTES, type Segment, type SegmentList } from "./segments.js";
import { eventOf } from "./stored-event.js";

/** The result of one read. */
export interface ReadStep {
  readonly events: readonly QueuedEvent[];
  /** Events that were written and can no longer be read. */
  readonly lost: readonly Range[];
  /** The segment that was read, and how much of it. */
  readonly file: string;
  readonly bytes: number;
}

/** The same with records that are not decoded. */
export interface ScanStep extends Omit<ReadStep, "events"> {
  readonly records: Chunk["records"];
}

const nothing: ScanStep = { records: [], lost: [], file: "", bytes: 0 };

/** Reads the segments from the oldest event that is not done to the newest, a chunk at a time. */
export class LogReader {
  readonly #segments: SegmentList;
  readonly #codecs: TextCodecs;
  #segment: Segment | undefined;
  #offset = 0;
  /** The next sequence number to come. */
  #expected = 0;

  constructor(segments: SegmentList, codecs: TextCodecs) {
    this.#segments = segments;
    this.#codecs = codecs;
  }

  /** Whether something on disk was not read. */
  get unread(): boolean {
    return this.#open() !== undefined;
  }

  /** Whether this is the next place to read. */
  isAt(segment: Segment, offset: number): boolean {
    return this.#open() === segment && this.#offset === offset;
  }

  /** Continues behind a segment whose events are known without reading them. */
  passOver(segment: Segment): void {
    this.#segment = segment;
    this.#offset = segment.end;
    this.#expected = segment.last + 1;
  }

  /** Reads the next chunk. */
  async read(done: DoneRanges): Promise<ReadStep> {
    const { records, ...step } = await this.scan(done);
    return {
      ...step,
      events: records.map(({ record }) => ({ sequence: record.sequence, event: eventOf(record.text, this.#codecs) })),
    };
  }

  /** Reads the next chunk and leaves it to the caller to decode what is needed. */
  async scan(done: DoneRanges): Promise<ScanStep> {
    const segment = this.#open();
    if (segment === undefined) return nothing;
    const { end, last, file } = segment;
    this.#offset = segment.readableFrom(this.#offset);
    const chunk = await chunkOf(file, this.#offset, end);
    const bytes = chunk.next - this.#offset;
    this.#offset = chunk.next;
    const { records, missing } = this.#unpack(chunk, last, done);
    if (chunk.next >= end) {
      missing.push({ from: this.#expected, to: last });
      this.#expected = last + 1;
    }
    return { file, bytes, records, lost: missing.flatMap((range) => done.openIn(range)) };
  }

  /** The records that are wanted, and what is missing between them. */
  #unpack({ records: all }: Chunk, last: number, done: DoneRanges) {
    const records: Chunk["records"][number][] = [];
    const missing: Range[] = [];
    for (const placed of all) {
      const { sequence, flags } = placed.record;
      if (flags === SEAL || sequence < this.#expected || sequence > last) continue;
      missing.push({ from: this.#expected, to: sequence - 1 });
      this.#expected = sequence + 1;
      if (!done.has(sequence)) records.push(placed);
    }
    return { records, missing };
  }

  /** The segment with the next unread byte. */
  #open(): Segment | undefined {
    if (this.#segment !== undefined && this.#offset < this.#segment.end) return this.#segment;
    const next = this.#segments.after(this.#segment?.first ?? 0);
    if (next === undefined) return undefined;
    this.#segment = next;
    this.#offset = SEGMENT_HEADER_BYTES;
    this.#expected = next.first;
    return next;
  }
}

/** A file that was removed is read as one without records: its events are reported as lost. */
async function chunkOf(file: string, from: number, to: number): Promise<Chunk> {
  const handle = await openSegment(file);
  if (handle === undefined) return { records: [], next: to, damagedAt: from };
  try {
    return await readChunk(handle, from, to);
  } catch (cause) {
    throw notRead(file, cause);
  } finally {
    await handle.close();
  }
}
