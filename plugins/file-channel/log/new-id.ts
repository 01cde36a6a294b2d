import { access, unlink } from "node:fs/promises";
import path from "node:path";
import { codeOf } from "deneb/sdk";
import { syncFolder } from "./files.js";

/** An empty file that an operator creates: at its next start the channel takes another id, once. */
export function newIdFile(checkpointFolder: string): string {
  return path.join(checkpointFolder, "new-id");
}

export async function wantsNewId(checkpointFolder: string): Promise<boolean> {
  try {
    await access(newIdFile(checkpointFolder));
    return true;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false;
    throw error;
  }
}

/** To be called when the new id is on disk. */
export async function newIdTaken(checkpointFolder: string): Promise<void> {
  await unlink(newIdFile(checkpointFolder));
  await syncFolder(checkpointFolder);
}
