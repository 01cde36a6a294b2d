import { type FileHandle, open } from "node:fs/promises";
import { refuseNoFile } from "../../files/regular-file.js";
import { AgentError, codeOf } from "../../sdk/index.js";
import { isMark, type LetterRecord, recordOf } from "./dead-letter.js";
import { LetterTable, type Sharing } from "./letter-table.js";

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

/** What is read of a file: its first bytes. */
export interface ReadPart {
  readonly size: number;
  /** Its name, for messages. */
  readonly file: string;
}

/**
 * Every whole line in the first `size` bytes of an open file, in order, as many together as one read brings. Throws code
 * `FORMAT_OF_NEWER_VERSION` at a record of a later version.
 */
export async function* recordsIn(
  handle: FileHandle,
  { size, file }: ReadPart,
): AsyncGenerator<readonly NumberedRecord[]> {
  let before = 0;
  for await (const lines of linesOf(handle, { size, file })) {
    const first = before + 1;
    before += lines.length;
    yield lines.map((read, index) => {
      const record = read.text === undefined ? undefined : recordOf(read.text.toString(), file);
      return { ...read, line: first + index, record };
    });
  }
}

/** What a line says of its letter, without the letter. */
export interface LineSubject {
  readonly id: string;
  readonly isStored: boolean;
}

/** What every whole line says, as many together as one read brings; lines that hold no record are left out. */
export async function* subjectsIn(
  handle: FileHandle,
  { size, file }: ReadPart,
): AsyncGenerator<readonly LineSubject[]> {
  for await (const lines of linesOf(handle, { size, file }))
    yield lines.flatMap(({ text }) => (text === undefined ? [] : (subjectOf(text, file) ?? [])));
}

const opening = Buffer.from('{"id":"');
const storedMark = Buffer.from('","mark":"stored",');
const quote = 34;
const backslash = 92;

/** Lines begin with their id, and marks go on with the mark: most need not be parsed. */
function subjectOf(text: Buffer, file: string): LineSubject | undefined {
  const end = text.indexOf(quote, opening.length);
  const id = text.subarray(opening.length, end);
  if (end === -1 || !text.subarray(0, opening.length).equals(opening) || id.includes(backslash)) {
    const record = recordOf(text.toString(), file);
    return record && { id: record.id, isStored: isMark(record) && record.mark === "stored" };
  }
  return { id: id.toString(), isStored: text.subarray(end, end + storedMark.length).equals(storedMark) };
}

/** What the whole lines say of their letters. */
export async function contentsIn(handle: FileHandle, part: ReadPart, sharing?: Sharing): Promise<FileContents> {
  const table = new LetterTable(sharing);
  let lines = 0;
  let unreadable = 0;
  for await (const some of linesOf(handle, part)) {
    for (const { start, end, text } of some) {
      lines += 1;
      const record = text === undefined ? undefined : outlineOf(text, part.file);
      if (record === undefined) unreadable += 1;
      else table.note(record, { line: lines, bytes: end - start, own: false });
    }
  }
  return { table, lines, unreadable };
}

// A quote within a text has a backslash before it, so that this is a member wherever it is found.
const eventMember = Buffer.from(',"event":{"headers":{');
const eventName = ',"event":';
const noEvent = `${eventName}{"headers":{},"body":0}}`;

/**
 * The record of a line, of a letter without its event, which is most of it and is not parsed to count the letter. A line with
 * anything unusual is parsed as a whole: with members behind the event, or damaged there.
 */
function outlineOf(text: Buffer, file: string): LetterRecord | undefined {
  const at = text.indexOf(eventMember);
  if (at === -1 || !isLastMember(text, at + eventName.length)) return recordOf(text.toString(), file);
  return recordOf(text.toString("utf8", 0, at) + noEvent, file) ?? recordOf(text.toString(), file);
}

const bracket = 91;
const closingBracket = 93;
const brace = 123;
const closingBrace = 125;
const space = 32;

/** Whether the object that begins there is all that is left of a line but its last brace, as far as brackets and strings tell. */
function isLastMember(line: Buffer, start: number): boolean {
  let depth = 0;
  for (let at = start; at < line.length; at += 1) {
    const byte = line[at];
    if (byte === quote) at = closingQuote(line, at);
    else if (byte === brace || byte === bracket) depth += 1;
    else if (byte === closingBrace || byte === closingBracket) depth -= 1;
    if (depth === 0) return at === line.length - 2 && line[at + 1] === closingBrace;
  }
  return false;
}

/** Where a string ends; behind the line where it does not, or holds a byte that no string has. */
function closingQuote(line: Buffer, start: number): number {
  for (let at = start + 1; at < line.length; at += 1) {
    const byte = line[at] ?? 0;
    if (byte === quote) return at;
    if (byte < space) return line.length;
    if (byte === backslash) at += 1;
  }
  return line.length;
}

export const lineEnd = 10;
const readStep = 262_144;

/** The longest line that is read; a longer one was not written by the agent. */
export const longestLine = 268_435_456;

/** A line that ends in a line feed, without it. */
interface TextLine {
  /** The offset of its first byte in the file. */
  readonly start: number;
  /** The offset behind its line feed. */
  readonly end: number;
  /** Undefined when it is too long to be read. */
  readonly text: Buffer | undefined;
}

/**
 * The whole lines in the first `size` bytes of an open file, as many together as one read brings. Each byte is copied
 * twice at most, however long a line is.
 */
async function* linesOf(handle: FileHandle, { size, file }: ReadPart): AsyncGenerator<readonly TextLine[]> {
  let pieces: Buffer[] = [];
  let start = 0;
  for (let at = 0; at < size; ) {
    const length = Math.min(readStep, size - at);
    const { buffer, bytesRead } = await readAt(handle, { file, position: at, length });
    if (bytesRead === 0) return;
    const chunk = buffer.subarray(0, bytesRead);
    const lines: TextLine[] = [];
    let from = 0;
    for (let to = chunk.indexOf(lineEnd); to !== -1; to = chunk.indexOf(lineEnd, from)) {
      const end = at + to + 1;
      const last = chunk.subarray(from, to);
      const text = pieces.length === 0 ? last : Buffer.concat([...pieces, last]);
      lines.push({ start, end, text: end - start > longestLine ? undefined : text });
      pieces = [];
      start = end;
      from = to + 1;
    }
    at += bytesRead;
    if (at - start > longestLine) pieces = [];
    else if (from < chunk.length) pieces.push(chunk.subarray(from));
    yield lines;
  }
}

interface ReadPlace {
  readonly file: string;
  readonly position: number;
  readonly length: number;
}

/** The system names no file where a read fails. */
export async function readAt(handle: FileHandle, { file, position, length }: ReadPlace) {
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(length), 0, length, position);
    return { buffer: buffer.subarray(0, bytesRead), bytesRead };
  } catch (cause) {
    throw new AgentError("FILE_NOT_READ", `reading "${file}"`, { cause, retryable: true });
  }
}

/** Opens a file to read it; undefined when there is none. */
export async function openIfThere(file: string, flags: "r" | "r+" = "r"): Promise<FileHandle | undefined> {
  await refuseNoFile(file);
  return await open(file, flags).catch((error: unknown) => {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  });
}
