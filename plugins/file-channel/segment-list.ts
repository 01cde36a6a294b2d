import { unlink } from "node:fs/promises";
import { codeOf } from "deneb/sdk";
import type { Segment } from "./segment.js";

/** The segments of a channel, oldest first. */
export class SegmentList {
  #segments: readonly Segment[] = [];

  /** Bytes of the segments that hold something beyond the low-water mark. */
  bytesAbove(low: number): number {
    return this.#segments.reduce((sum, { last, end }) => (last > low ? sum + end : sum), 0);
  }

  /** The first one after a sequence number that has events. */
  after(first: number): Segment | undefined {
    return this.#segments.find((segment) => segment.first > first && !segment.isEmpty);
  }

  add(segment: Segment): void {
    if (this.#segments.includes(segment)) return;
    this.#segments = [...this.#segments, segment].sort((one, other) => one.first - other.first);
  }

  /** Removes the files that hold nothing beyond the low-water mark; the newest stays, it may be written to. */
  async trim(low: number): Promise<void> {
    for (const segment of this.#segments.slice(0, -1).filter(({ last }) => last <= low)) {
      await remove(segment.file);
      this.#segments = this.#segments.filter((one) => one !== segment);
    }
  }
}

async function remove(file: string): Promise<void> {
  try {
    await unlink(file);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
  }
}
