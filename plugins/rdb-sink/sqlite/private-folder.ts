import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { codeOf } from "deneb/sdk";

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
