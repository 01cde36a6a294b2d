import { unlink } from "node:fs/promises";
import path from "node:path";
import { folderGone, isEmpty, LOOK_MILLIS, type OpenFile, syncFolder, type WritableFile, writeFully } from "./files.js";
import { encodeSeal } from "./records.js";
import { SEGMENT_HEADER_BYTES, Segment, segmentFile, segmentHeader } from "./segments.js";

interface WriterParts {
  /** Used in turn, one segment each. */
  readonly folders: readonly string[];
  readonly id: string;
  /** A segment of this size is closed, and the next one begins. */
  readonly segmentBytes: number;
  readonly openFile: OpenFile;
  /** Those of the folders that hold at least a lock while they are in use. */
  readonly locked: readonly string[];
  /** Called when the file that is written to was removed. */
  readonly removed: (file: string) => void;
}

/** Records of consecutive events. */
interface Group {
  readonly bytes: Buffer;
  readonly first: number;
  readonly last: number;
}

interface Active {
  readonly segment: Segment;
  readonly file: WritableFile;
  /** How many names it had when it was made: some file systems count none. */
  readonly links: number;
}

/** Appends groups to the newest segment, and begins another one when that is full; one call at a time. */
export class SegmentWriter {
  readonly #parts: WriterParts;
  #active: Active | undefined;
  #turn = 0;
  #lookedAt = 0;

  constructor(parts: WriterParts) {
    this.#parts = parts;
  }

  /** When it resolves, the group is on disk; when it rejects, nothing of it counts. */
  async write({ bytes, first, last }: Group): Promise<Segment> {
    if (this.#active !== undefined && !this.#continues(this.#active.segment, first)) await this.close();
    if (this.#active !== undefined && (await this.#isRemoved(this.#active))) await this.#leave(this.#active);
    this.#active ??= await this.#begin(first);
    const { segment, file } = this.#active;
    try {
      await writeFully(file, bytes, segment.end);
      await file.datasync();
    } catch (error) {
      await this.#abandon(this.#active);
      throw error;
    }
    segment.grow(last, segment.end + bytes.length);
    return segment;
  }

  /** Closes the newest segment with a seal, so that the next start need not read it. */
  async close(): Promise<void> {
    const active = this.#active;
    this.#active = undefined;
    if (active === undefined) return;
    const { file, segment } = active;
    try {
      await writeFully(file, encodeSeal(segment.last), segment.end);
    } catch {
      // Without a seal the next start reads the whole segment: slower, but nothing is lost.
    }
    // Every record is on disk already, whatever the file system says now.
    await Promise.allSettled([file.close()]);
  }

  #continues(segment: Segment, first: number): boolean {
    return segment.last + 1 === first && segment.end < this.#parts.segmentBytes;
  }

  async #begin(first: number): Promise<Active> {
    const { folders, id, openFile } = this.#parts;
    const folder = folders[this.#turn++ % folders.length] ?? "";
    // A mount point without its disk: what is written there is hidden when the disk is back.
    if (this.#parts.locked.includes(folder) && (await isEmpty(folder))) throw folderGone(folder, "writing events");
    const name = segmentFile(folder, first);
    const file = await openFile(name);
    const segment = new Segment(name, { first, last: first - 1, end: SEGMENT_HEADER_BYTES });
    try {
      await writeFully(file, segmentHeader(id), 0);
      await syncFolder(path.dirname(name));
    } catch (error) {
      await this.#abandon({ segment, file, links: 0 });
      throw error;
    }
    this.#lookedAt = performance.now();
    return { segment, file, links: (await file.links?.().catch(() => 0)) ?? 0 };
  }

  /** What is written to a file without a name is gone with the process. One that was moved, or whose disk was unmounted, has its name there. */
  async #isRemoved({ file, links }: Active): Promise<boolean> {
    const now = performance.now();
    if (links === 0 || now - this.#lookedAt < LOOK_MILLIS) return false;
    this.#lookedAt = now;
    return (await file.links?.().catch(() => undefined)) === 0;
  }

  async #leave({ segment, file }: Active): Promise<void> {
    this.#active = undefined;
    this.#parts.removed(segment.file);
    await Promise.allSettled([file.close()]);
  }

  /** After a failed write the content of the disk is unknown: the segment is closed, and what was not acknowledged is cut off. */
  async #abandon({ segment, file }: Active): Promise<void> {
    this.#active = undefined;
    const undo = segment.isEmpty ? unlink(segment.file) : file.truncate(segment.end);
    await Promise.allSettled([undo]);
    await Promise.allSettled([file.close()]);
  }
}
