import { mkdirSync, statSync } from "node:fs";
import { mkdir, stat } from "node:fs/promises";
import path from "node:path";
import { codeOf } from "../sdk/index.js";

/**
 * Makes a folder, and those that it is in, with this mode. `recursive` of Node tries without end, with a busy core, where a folder
 * cannot be made in one that is there, as in /proc.
 */
export async function makeFolder(folder: string, mode = 0o777): Promise<void> {
  if (await isFolder(folder)) return;
  try {
    await makeLast(folder, mode);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
    await makeFolder(path.dirname(folder), mode);
    // Also where the parent is there: it may have been made since the try.
    await makeLast(folder, mode);
  }
}

/** The same where nothing can be awaited. */
export function makeFolderSync(folder: string, mode = 0o777): void {
  if (isFolderSync(folder)) return;
  try {
    makeLastSync(folder, mode);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
    makeFolderSync(path.dirname(folder), mode);
    makeLastSync(folder, mode);
  }
}

async function makeLast(folder: string, mode: number): Promise<void> {
  try {
    await mkdir(folder, { mode });
  } catch (error) {
    // Another may be faster.
    if (!(await isFolder(folder))) throw error;
  }
}

function makeLastSync(folder: string, mode: number): void {
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    if (!isFolderSync(folder)) throw error;
  }
}

async function isFolder(file: string): Promise<boolean> {
  return await stat(file).then(
    (found) => found.isDirectory(),
    (error: unknown) => {
      // A disk that fails has not lost the folder.
      if (codeOf(error) === "EIO") throw error;
      return false;
    },
  );
}

function isFolderSync(file: string): boolean {
  try {
    return statSync(file).isDirectory();
  } catch (error) {
    if (codeOf(error) === "EIO") throw error;
    return false;
  }
}
