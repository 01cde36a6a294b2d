import { AgentError, type ChannelContext, type FolderLock } from "deneb/sdk";
import { CHECKPOINT_FILE } from "./checkpoint.js";
import { clearFormerLock, FORMER_LOCK } from "./former-lock.js";
import { firstOf } from "./segment.js";

/** The folders of one channel, made when they are missing and kept for this process. */
export class ChannelFolders {
  readonly #folders: readonly string[];
  readonly #lockFolder: ChannelContext["lockFolder"];
  readonly #released = new AbortController();
  #locks: readonly FolderLock[] = [];

  constructor(folders: readonly string[], lockFolder: ChannelContext["lockFolder"]) {
    this.#folders = [...new Set(folders)];
    this.#lockFolder = lockFolder;
  }

  async take(): Promise<void> {
    const remedy = "give the channel folders of its own that it may write to, with checkpointDir and dataDirs";
    for (const folder of this.#folders) {
      const lock = await this.#lockFolder(folder, { owns, remedy, signal: this.#released.signal });
      this.#locks = [...this.#locks, lock];
      await clearFormerLock(folder);
    }
    // A stop may have come while the last lock was on its way.
    if (!this.#released.signal.aborted) return;
    await this.release();
    throw new AgentError("CHANNEL_STOPPED", "opening the folders of a channel: it was stopped meanwhile", {
      retryable: true,
    });
  }

  async release(): Promise<void> {
    this.#released.abort();
    const locks = this.#locks;
    this.#locks = [];
    for (const lock of locks) await lock.release();
  }
}

function owns(name: string): boolean {
  return name === CHECKPOINT_FILE || name === FORMER_LOCK || firstOf(name) !== undefined;
}
