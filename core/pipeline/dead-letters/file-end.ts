import type { FileHandle } from "node:fs/promises";
import { recordOf } from "./dead-letter.js";
import { lineEnd, longestLine, openIfThere, type ReadPart, readAt } from "./records.js";

const tailStep = 65_536;

/** What was done at the end of a file. */
export interface Mended {
  /** True when a record was there and its line feed was not. */
  readonly isCompleted: boolean;
  /** Bytes that were cut off. */
  readonly cut: number;
}

const nothingMended: Mended = { isCompleted: false, cut: 0 };

/** Ends a file with a line feed: behind a record without one, or by cutting off what was never written completely. */
export async function mendEnd(file: string): Promise<Mended> {
  const handle = await openIfThere(file, "r+");
  if (handle === undefined) return nothingMended;
  try {
    const { size } = await handle.stat();
    const start = await startOfTail(handle, { size, file });
    if (start === size) return nothingMended;
    const end = await endOfRecord(handle, { start, size, file });
    if (end === undefined) {
      await handle.truncate(start);
      return { isCompleted: false, cut: size - start };
    }
    await handle.write("\n", end);
    await handle.datasync();
    return { isCompleted: true, cut: 0 };
  } finally {
    await handle.close();
  }
}

/** Cuts a file behind its last line feed. */
export async function cutTail(file: string): Promise<void> {
  const handle = await openIfThere(file, "r+");
  if (handle === undefined) return;
  try {
    const { size } = await handle.stat();
    const start = await startOfTail(handle, { size, file });
    if (start < size) await handle.truncate(start);
  } finally {
    await handle.close();
  }
}

/** The offset behind the last line feed. */
async function startOfTail(handle: FileHandle, { size, file }: ReadPart): Promise<number> {
  for (let end = size; end > 0; ) {
    const length = Math.min(tailStep, end);
    const { buffer } = await readAt(handle, { file, position: end - length, length });
    const at = buffer.lastIndexOf(lineEnd);
    if (at !== -1) return end - length + at + 1;
    end -= length;
  }
  return 0;
}

/** Where a record ends that has no line feed, or a damaged one; undefined when there is none. */
async function endOfRecord(
  handle: FileHandle,
  { start, size, file }: ReadPart & { readonly start: number },
): Promise<number | undefined> {
  const length = size - start;
  if (length > longestLine) return undefined;
  const { buffer } = await readAt(handle, { file, position: start, length });
  return [size, size - 1].find((end) => recordOf(buffer.toString("utf8", 0, end - start), file) !== undefined);
}
