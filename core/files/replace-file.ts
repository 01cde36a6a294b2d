import { randomBytes } from "node:crypto";
import { mkdir, open, realpath, rename, rm, stat } from "node:fs/promises";
import path from "node:path";
import { AgentError, codeOf } from "../sdk/index.js";

const ORDINARY_MODE = 0o644;

/**
 * Gives a file a new text: readers see the old one or the new one, never a part, also after a power failure. What a
 * symbolic link points to is replaced, not the link; the permissions stay; a missing folder is made.
 */
export async function replaceFile(file: string, text: string): Promise<void> {
  try {
    await mkdir(path.dirname(file), { recursive: true });
    await replace(await target(file), text);
  } catch (cause) {
    throw new AgentError("FILE_NOT_WRITTEN", `writing "${file}" (is its folder writable?)`, {
      cause,
      retryable: false,
    });
  }
}

async function replace(file: string, text: string): Promise<void> {
  const temporary = `${file}.${randomBytes(6).toString("hex")}.tmp`;
  try {
    await writeSynced(temporary, text, await modeOf(file));
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncFolder(path.dirname(file));
}

async function writeSynced(file: string, text: string, mode: number): Promise<void> {
  const handle = await open(file, "wx", mode);
  try {
    await handle.writeFile(text);
    await handle.chmod(mode);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function target(file: string): Promise<string> {
  return (await ifThere(() => realpath(file))) ?? file;
}

async function modeOf(file: string): Promise<number> {
  const found = await ifThere(() => stat(file));
  return found === undefined ? ORDINARY_MODE : found.mode & 0o777;
}

async function ifThere<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}
