import { randomBytes } from "node:crypto";
import { constants, type StatsFs } from "node:fs";
import { access, lstat, open, realpath, rm, stat, statfs } from "node:fs/promises";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { AgentError, codeOf } from "../sdk/index.js";
import { isHeldHere, LOCK, NOTE, readNote } from "./folder-lock.js";
import { tryLock } from "./kernel-lock.js";

/** What can be seen of a folder without changing it. */
export interface FolderState {
  /** False when it would be made. */
  readonly exists: boolean;
  /** The folder itself, or the nearest one above it that exists. */
  readonly within: string;
  readonly mode: number;
  /** The user that it belongs to. */
  readonly owner: number;
  readonly freeBytes: number;
  /** The line of whoever holds its lock; undefined when nobody does. */
  readonly heldBy: string | undefined;
}

/**
 * Looks at a folder as a process would use it: a file is written into it and removed again, unless another process holds it.
 * Throws code `FOLDER_UNUSABLE` with what is wrong.
 */
export async function folderState(folder: string, asksForLock: boolean): Promise<FolderState> {
  const within = await nearest(path.resolve(folder));
  const exists = within === path.resolve(folder);
  const found = await stat(within).catch((error: unknown) => {
    throw unusable(folder, `"${within}" leads nowhere (${codeOf(error)}); correct the link, or give another folder`);
  });
  if (!found.isDirectory()) throw unusable(folder, `"${within}" is not a folder; give another folder, or move it away`);
  const heldBy = exists && asksForLock ? await holder(within) : undefined;
  await checkWritable(folder, within, exists && heldBy === undefined);
  const space = await statfs(within);
  return { exists, within, mode: found.mode & 0o7777, owner: found.uid, freeBytes: freeOf(space), heldBy };
}

function freeOf({ bavail, bsize }: StatsFs): number {
  return bavail * bsize;
}

/** The folder, or the first one above it that exists. */
async function nearest(folder: string): Promise<string> {
  for (let at = folder; ; at = path.dirname(at)) {
    if ((await exists(at)) || at === path.dirname(at)) return at;
  }
}

async function exists(file: string): Promise<boolean> {
  try {
    await lstat(file);
    return true;
  } catch (error) {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR") return false;
    throw unusable(file, `it cannot be looked at (${codeOf(error)}); give this user access to the folders above it`);
  }
}

/** Rights alone do not say it: file systems have quotas, and answers of their own. */
async function checkWritable(folder: string, within: string, mayWrite: boolean): Promise<void> {
  const file = path.join(within, `deneb.check-${process.pid}-${randomBytes(6).toString("hex")}`);
  try {
    await access(within, constants.W_OK | constants.X_OK);
    if (!mayWrite) return;
    const handle = await open(file, "wx", 0o600);
    try {
      await handle.writeFile("deneb check\n");
      await handle.sync();
    } finally {
      await handle.close();
      await rm(file, { force: true });
    }
  } catch (error) {
    const code = codeOf(error) ?? "unknown";
    throw unusable(folder, `writing into "${within}" fails (${code}); ${remedies.get(code) ?? "give another folder"}`);
  }
}

const remedies: ReadonlyMap<string, string> = new Map([
  ["EACCES", "give this user the right to write there, or give another folder"],
  ["EPERM", "give this user the right to write there, or give another folder"],
  ["EROFS", "mount the file system for writing, or give another folder"],
  ["ENOSPC", "free space, or inodes, there, or give another folder"],
  ["EDQUOT", "raise the quota of this user, or give another folder"],
]);

function unusable(folder: string, reason: string): AgentError {
  return new AgentError("FOLDER_UNUSABLE", `using the folder "${folder}": ${reason}`, { retryable: false });
}

/** Two processes that try at the same instant may both fail. */
const TRIES = 5;
const PAUSE_MILLIS = 20;

/** Nothing is created: without the lock file nobody holds the lock. */
async function holder(folder: string): Promise<string | undefined> {
  const real = await realpath(folder);
  const file = path.join(real, LOCK);
  if (!(await exists(file))) return undefined;
  for (let tries = 1; tries <= TRIES && !isHeldHere(real); tries += 1) {
    const lock = await tryLock(file);
    if (lock !== undefined) {
      lock.release();
      return undefined;
    }
    await delay(PAUSE_MILLIS * tries);
  }
  return await readNote(path.join(folder, NOTE));
}
