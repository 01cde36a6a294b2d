import type { FileHandle } from "node:fs/promises";
import { type LetterRecord, recordOf } from "./dead-letter.js";
import { LetterTable } from "./table.js";
import { linesOf, type TextLine } from "./text-lines.js";

/** A line of a file with its record. */
export interface NumberedRecord extends TextLine {
  /** From 1. */
  readonly line: number;
  /** Undefined for a line that is damaged, or was written by another version. */
  readonly record: LetterRecord | undefined;
}

/** What a file holds. */
export interface FileContents {
  readonly table: LetterTable;
  readonly lines: number;
  /** Lines that hold no record. */
  readonly unreadable: number;
}

/** Every whole line in the first `size` bytes of an open file, in order, as many together as one read brings. */
export async function* recordsIn(handle: FileHandle, size: number): AsyncGenerator<readonly NumberedRecord[]> {
  let before = 0;
  for await (const lines of linesOf(handle, size)) {
    const first = before + 1;
    before += lines.length;
    yield lines.map((read, index) => {
      const record = read.text === undefined ? undefined : recordOf(read.text.toString());
      return { ...read, line: first + index, record };
    });
  }
}

export async function contentsIn(handle: FileHandle, size: number): Promise<FileContents> {
  const table = new LetterTable();
  let lines = 0;
  let unreadable = 0;
  for await (const records of recordsIn(handle, size)) {
    for (const { line, start, end, record } of records) {
      lines = line;
      if (record === undefined) unreadable += 1;
      else table.note(record, { line, bytes: end - start, own: false });
    }
  }
  return { table, lines, unreadable };
}
