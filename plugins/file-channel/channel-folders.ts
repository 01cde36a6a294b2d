import { mkdir } from "node:fs/promises";
import { AgentError } from "deneb/sdk";
import { FolderLock } from "./folder-lock.js";

/** The folders of one channel, made when they are missing and kept for this process. */
export class ChannelFolders {
  readonly #folders: readonly string[];
  readonly #locks: readonly FolderLock[];

  constructor(folders: readonly string[]) {
    this.#folders = [...new Set(folders)];
    this.#locks = this.#folders.map((folder) => new FolderLock(folder));
  }

  async take(): Promise<void> {
    for (const folder of this.#folders) await makeFolder(folder);
    for (const lock of this.#locks) await lock.take();
  }

  async release(): Promise<void> {
    for (const lock of this.#locks) await lock.release();
  }
}

async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
  } catch (cause) {
    const remedy = "give the channel folders it may write to with checkpointDir and dataDirs";
    throw new AgentError("CHANNEL_FOLDER_UNUSABLE", `making the folder "${folder}" (${remedy})`, { cause });
  }
}
