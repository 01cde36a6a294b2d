import { randomUUID } from "node:crypto";
import { link, lstat, open, rename, rm } from "node:fs/promises";
import { AgentError, codeOf } from "../../sdk/index.js";

/** Only the user may read it. */
const MODE = 0o600;

/**
 * Has a file written under another name, and gives it its name when it is complete: a part of it never looks like all.
 * Throws code `FILE_EXISTS` for an existing file unless it is to be replaced.
 */
export async function writtenWhole<T>(
  file: string,
  overwrite: boolean,
  write: (temporary: string) => Promise<T>,
): Promise<T> {
  if (!overwrite && (await exists(file))) throw alreadyThere(file);
  const temporary = `${file}.${randomUUID()}.partial`;
  await (await open(temporary, "wx", MODE)).close();
  try {
    const result = await write(temporary);
    await synced(temporary);
    if (overwrite) await rename(temporary, file);
    else await named(temporary, file);
    return result;
  } finally {
    await rm(temporary, { force: true });
  }
}

/** A link fails if somebody has made the file meanwhile; a rename would replace it. */
async function named(temporary: string, file: string): Promise<void> {
  try {
    await link(temporary, file);
  } catch (error) {
    if (codeOf(error) === "EEXIST") throw alreadyThere(file);
    // A file system without links.
    if (await exists(file)) throw alreadyThere(file);
    await rename(temporary, file);
  }
}

async function synced(file: string): Promise<void> {
  const handle = await open(file, "r+");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function exists(file: string): Promise<boolean> {
  try {
    await lstat(file);
    return true;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false;
    throw error;
  }
}

function alreadyThere(file: string): AgentError {
  const message = `writing "${file}": it exists; give another name, or --overwrite to replace it`;
  return new AgentError("FILE_EXISTS", message, { retryable: false });
}
