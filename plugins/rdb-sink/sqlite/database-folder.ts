import { readdirSync, statSync } from "node:fs";
import { mkdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { codeOf } from "deneb/sdk";
import { schemaOf } from "./file-name.js";

/**
 * Makes a private folder, and those that it is in. `recursive` of Node tries without end, with a busy core, where a folder cannot
 * be made in one that is there, as in /proc.
 */
export async function makePrivateFolder(folder: string): Promise<void> {
  if (await isFolder(folder)) return;
  try {
    await makeLast(folder);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
    await makePrivateFolder(dirname(folder));
    // Also where the parent is there: it may have been made since the try.
    await makeLast(folder);
  }
}

async function makeLast(folder: string): Promise<void> {
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    // Another may be faster.
    if (!(await isFolder(folder))) throw error;
  }
}

export async function isFolder(file: string): Promise<boolean> {
  return await stat(file).then(
    (found) => found.isDirectory(),
    (error: unknown) => {
      // A disk that fails has not lost the folder.
      if (codeOf(error) === "EIO") throw error;
      return false;
    },
  );
}

/** That of an agent, in its data directory and in the folders of its channels. */
const LOCK = "deneb.lock";

export const FOLDER_GONE = "FOLDER_GONE";

/** Whether an agent has the folder locked, or had it: the file stays. */
export function hasLock(folder: string): boolean {
  return isThere(join(folder, LOCK));
}

/**
 * Throws code `FOLDER_GONE` where a folder that had a lock has neither that nor a database file: another folder has its place, or none,
 * as when its disk was unmounted. What would be stored there could not be seen when the disk is back.
 */
export function refuseGone(folder: string): void {
  if (hasLock(folder)) return;
  if (isThere(folder) && readdirSync(folder).some((file) => schemaOf(file) !== undefined)) return;
  throw Object.assign(new Error(`neither a lock nor a database file is in "${folder}"`), { code: FOLDER_GONE });
}

function isThere(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false }) !== undefined;
}
