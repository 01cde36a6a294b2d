import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { schemaOf } from "./file-name.js";

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
