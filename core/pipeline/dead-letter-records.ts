import type { FileHandle } from "node:fs/promises";
import { type LetterRecord, recordOf } from "./dead-letter.js";
import { LetterTable } from "./dead-letter-table.js";
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
  readonly size: number;
}

/** Every whole line in the first `size` bytes of an open file, in order. */
export async function* recordsIn(handle: FileHandle, size: number): AsyncGenerator<NumberedRecord> {
  let line = 0;
  for await (const read of linesOf(handle, size)) {
    line += 1;
    yield { ...read, line, record: read.text === undefined ? undefined : recordOf(read.text.toString()) };
  }
}

export async function contentsIn(handle: FileHandle, size: number): Promise<FileContents> {
  const table = new LetterTable();
  let lines = 0;
  let unreadable = 0;
  for await (const { line, start, end, record } of recordsIn(handle, size)) {
    lines = line;
    if (record === undefined) unreadable += 1;
    else table.note(record, { line, bytes: end - start, own: false });
  }
  return { table, lines, unreadable, size };
}
