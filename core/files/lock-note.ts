import { readFile, rm, writeFile } from "node:fs/promises";
import { hostname } from "node:os";

/**
 * Who holds a lock, for people: a line of text beside the lock file. Nothing is decided by it, so that a note that could
 * not be written, or was left behind, does no harm.
 */
export async function writeNote(file: string): Promise<void> {
  const text = `pid ${process.pid} on host ${hostname()} since ${new Date().toISOString()}\n`;
  await writeFile(file, text, { mode: 0o600 }).catch(() => undefined);
}

export async function removeNote(file: string): Promise<void> {
  await rm(file, { force: true }).catch(() => undefined);
}

/** A short text without control characters, whatever is in the file. */
export async function readNote(file: string): Promise<string> {
  const text = await readFile(file, "utf8").catch(() => "");
  const line = text
    .slice(0, MOST_CHARACTERS)
    .replace(/[^\x20-\x7e]/g, " ")
    .trim();
  return line === "" ? "which left no note" : line;
}

const MOST_CHARACTERS = 200;
