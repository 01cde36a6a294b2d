import { type FileHandle, open, rename, rm } from "node:fs/promises";
import path from "node:path";
import { syncFolder } from "../../files/whole-file.js";
import { isMark } from "./dead-letter.js";
import { isOpen, type LetterEntry, type LetterTable } from "./letter-table.js";
import { contentsIn, type NumberedRecord, recordsIn } from "./records.js";

/** Letters hold the data of notifications: only the account of the agent reads them. */
export const fileMode = 0o600;
export const folderMode = 0o700;

const copyStep = 1_048_576;
const lineFeed = Buffer.from("\n");

/** Stored letters that are remembered, the newest: their marks keep a second copy in a channel from being stored. */
export const rememberedLetters = 100_000;

/** A file that is to take the place of another one. */
export interface Draft {
  /** Adds what was appended to the file since, and puts the draft in its place. Nobody may append meanwhile. */
  finish(): Promise<void>;
}

interface DraftPaths {
  readonly file: string;
  readonly draft: string;
}

interface DraftParts extends DraftPaths {
  /** The open file; it is closed with the draft. */
  readonly source: FileHandle;
  /** How much of it is copied by choice; it ends with a whole line, and what is behind it is only added to. */
  readonly size: number;
  /** Ends the work. */
  readonly signal: AbortSignal;
  /** Letters that are not copied. */
  readonly leftOut: ReadonlySet<string>;
}

/**
 * Copies what is still needed of a file: open letters with what they stand at, the newest marks of stored ones, and lines
 * that cannot be read. Until `finish` has renamed the draft, a crash leaves the file as it was.
 */
export async function writeDraft({ source, size, signal, leftOut, ...paths }: DraftParts): Promise<Draft> {
  let target: FileHandle | undefined;
  const close = async () => {
    await target?.close().catch(() => undefined);
    await source.close().catch(() => undefined);
    await rm(paths.draft, { force: true });
  };
  try {
    await rm(paths.draft, { force: true });
    target = await open(paths.draft, "wx", fileMode);
    const part = { size, file: paths.file };
    const { table } = await contentsIn(source, part);
    const isNeeded = neededBy(table, leftOut);
    for await (const some of recordsIn(source, part)) {
      signal.throwIfAborted();
      await copyLines(some.filter(isNeeded), source, target);
    }
    return { finish: finishing({ source, target, size, paths }, close) };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Writes lines together; one that is too long to be read goes piece by piece. */
async function copyLines(lines: readonly NumberedRecord[], source: FileHandle, target: FileHandle): Promise<void> {
  let pieces: Buffer[] = [];
  for (const { text, start, end } of lines) {
    if (text !== undefined) pieces.push(text, lineFeed);
    else {
      await target.appendFile(Buffer.concat(pieces));
      pieces = [];
      await copy(source, target, { from: start, to: end });
    }
  }
  await target.appendFile(Buffer.concat(pieces));
}

interface OpenDraft {
  readonly source: FileHandle;
  readonly target: FileHandle;
  /** Of the source when it was copied. */
  readonly size: number;
  readonly paths: DraftPaths;
}

function finishing({ source, target, size, paths }: OpenDraft, close: () => Promise<void>) {
  return async () => {
    try {
      await copy(source, target, { from: size, to: (await source.stat()).size });
      await target.sync();
      await rename(paths.draft, paths.file);
      await syncFolder(path.dirname(paths.file));
    } finally {
      await close();
    }
  };
}

/** Which lines are copied. */
function neededBy(table: LetterTable, leftOut: ReadonlySet<string>): (read: NumberedRecord) => boolean {
  const remembered = rememberedStored(table);
  return ({ record, line }) => {
    if (record === undefined) return true;
    if (leftOut.has(record.id)) return false;
    const entry = table.get(record.id);
    if (entry === undefined) return true;
    if (!isMark(record)) return entry.line === line && isOpen(entry);
    return entry.lastLine === line && (isOpen(entry) || remembered(entry));
  };
}

/** Whether a letter is stored, and among the last that were. */
export function rememberedStored(table: LetterTable): (entry: LetterEntry) => boolean {
  const lines: number[] = [];
  for (const { mark, lastLine } of table.entries()) if (mark === "stored") lines.push(lastLine);
  const first = Float64Array.from(lines).sort()[Math.max(0, lines.length - rememberedLetters)] ?? 0;
  return ({ mark, lastLine }) => mark === "stored" && lastLine >= first;
}

/** Copies bytes to the end of the target. */
async function copy(
  source: FileHandle,
  target: FileHandle,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<void> {
  for (let at = from; at < to; ) {
    const length = Math.min(copyStep, to - at);
    const { buffer, bytesRead } = await source.read(Buffer.allocUnsafe(length), { position: at, length });
    if (bytesRead === 0) return;
    await target.appendFile(buffer.subarray(0, bytesRead));
    at += bytesRead;
  }
}
