import { cp, rm } from "node:fs/promises";
import { makeFolder } from "../files/make-folder.js";

/** A folder whose files come and go without end is no folder of a channel. */
const MOST_COPIES = 100;

/**
 * Copies a folder that is in use to `to`, as a crash would leave it; makes it when it is missing. A file that gets another
 * name meanwhile can be missed under both, so the copy is made again when a file that was listed is gone.
 */
export async function copyOfLive(from: string, to: string, filter?: (file: string) => boolean): Promise<void> {
  await makeFolder(from);
  for (let copies = 1; ; copies += 1) {
    try {
      return await cp(from, to, { recursive: true, ...(filter === undefined ? {} : { filter }) });
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "ENOENT") || copies === MOST_COPIES)
        throw error;
      await rm(to, { recursive: true, force: true });
    }
  }
}
