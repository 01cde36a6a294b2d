import { open } from "node:fs/promises";
import { codeOf, type Event } from "deneb/sdk";
import { type QueuedEvent, SequenceRing } from "deneb/sdk/channel";
import type { DoneRanges, Range } from "./done-ranges.js";
import { type Chunk, readChunk, SEAL } from "./records.js";
import { SEGMENT_HEADER_BYTES, type Segment, type SegmentList } from "./segments.js";

/** The result of one read. */
export interface ReadStep {
  readonly events: readonly QueuedEvent[];
  /** Events that were written and can no longer be read. */
  readonly lost: readonly Range[];
  /** The segment that was read, and how much of it. */
  readonly file: string;
  readonly bytes: number;
}

const nothing: ReadStep = { events: [], lost: [], file: "", bytes: 0 };

/** Reads the segments from the oldest event that is not done to the newest, a chunk at a time. */
export class LogReader {
  readonly #segments: SegmentList;
  #segment: Segment | undefined;
  #offset = 0;
  /** The next sequence number to come. */
  #expected = 0;

  constructor(segments: SegmentList) {
    this.#segments = segments;
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
    const segment = this.#open();
    if (segment === undefined) return nothing;
    const { end, last, file } = segment;
    const chunk = await chunkOf(file, this.#offset, end);
    const bytes = chunk.next - this.#offset;
    this.#offset = chunk.next;
    const { events, missing } = this.#unpack(chunk, last, done);
    if (chunk.next >= end) {
      missing.push({ from: this.#expected, to: last });
      this.#expected = last + 1;
    }
    return { file, bytes, events, lost: missing.flatMap((range) => done.openIn(range)) };
  }

  #unpack({ records }: Chunk, last: number, done: DoneRanges): { events: QueuedEvent[]; missing: Range[] } {
    const events: QueuedEvent[] = [];
    const missing: Range[] = [];
    for (const { record } of records) {
      const { sequence, flags, text } = record;
      if (flags === SEAL || sequence < this.#expected || sequence > last) continue;
      missing.push({ from: this.#expected, to: sequence - 1 });
      this.#expected = sequence + 1;
      if (!done.has(sequence)) events.push({ sequence, event: eventOf(text) });
    }
    return { events, missing };
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
  try {
    const handle = await open(file, "r");
    try {
      return await readChunk(handle, from, to);
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (codeOf(error) === "ENOENT") return { records: [], next: to, damagedAt: from };
    throw error;
  }
}

/** The checksum says that it is what was written. */
function eventOf(text: Buffer): Event {
  return JSON.parse(text.toString());
}

/** The events that are taken next, in memory, and about how many bytes they are. */
export class ReadyWindow {
  readonly #ring = new SequenceRing();
  #bytes = 0;

  get length(): number {
    return this.#ring.length;
  }

  /** An estimate: the bytes of what was pushed, less the share of what was taken. */
  get bytes(): number {
    return this.#bytes;
  }

  push(events: readonly QueuedEvent[], bytes: number): void {
    this.#ring.push(events);
    this.#bytes += bytes;
  }

  shift(max: number): readonly QueuedEvent[] {
    const before = this.#ring.length;
    const events = this.#ring.shift(max);
    this.#bytes *= this.#ring.length / Math.max(before, 1);
    return events;
  }

  restore(events: readonly QueuedEvent[]): void {
    const before = this.#ring.length;
    this.#ring.restore(events);
    if (before > 0) this.#bytes *= this.#ring.length / before;
  }

  /** Removes and returns what is done. */
  drop(done: DoneRanges): readonly QueuedEvent[] {
    const bytes = this.#bytes;
    const events = this.shift(this.#ring.length);
    const isDone = ({ sequence }: QueuedEvent) => done.has(sequence);
    this.push(
      events.filter((event) => !isDone(event)),
      bytes,
    );
    return events.filter(isDone);
  }
}
