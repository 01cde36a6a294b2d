import { readFile, readlink, unlink } from "node:fs/promises";
import { hostname } from "node:os";
import path from "node:path";
import { AgentError, type ChannelContext, codeOf, type FolderLock } from "deneb/sdk";
import { CHECKPOINT_FILE } from "./checkpoint.js";
import { COMPACTED } from "./files.js";
import { firstOf } from "./segments.js";

/** The folders of one channel, created when they are missing and locked for this process. */
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
    // The channel may have been stopped while it waited for the last lock.
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
  return name === CHECKPOINT_FILE || name === FORMER_LOCK || firstOf(name.replace(COMPACTED, "")) !== undefined;
}

const FORMER_LOCK = "in_use.lock";

/**
 * Versions before the lock of the kernel left a symbolic link to `<pid>,<start of the process>,<host>` in the folder.
 * While that process lives on this host the folder is refused; otherwise the link is removed.
 */
async function clearFormerLock(folder: string): Promise<void> {
  const link = path.join(folder, FORMER_LOCK);
  const holder = await holderOf(link);
  if (holder === undefined) return;
  if (await isAlive(holder)) {
    const by = `the process with pid ${Number.parseInt(holder, 10)}, an agent of an earlier version`;
    throw new AgentError("FOLDER_IN_USE", `folder "${folder}" is in use by ${by}; stop that one first`, {
      retryable: false,
    });
  }
  await unlink(link);
}

async function holderOf(link: string): Promise<string | undefined> {
  try {
    return await readlink(link);
  } catch (error) {
    // Absent, or a file of another program with that name.
    if (codeOf(error) === "ENOENT" || codeOf(error) === "EINVAL") return undefined;
    throw error;
  }
}

async function isAlive(holder: string): Promise<boolean> {
  const [pid, start, host] = holder.split(",");
  if (host !== hostname() || !/^[1-9]\d*$/.test(pid ?? "")) return false;
  try {
    process.kill(Number(pid), 0);
  } catch (error) {
    if (codeOf(error) !== "EPERM") return false;
  }
  return ((await startOf(Number(pid))) ?? "") === start;
}

/** When a process began, in ticks since the start of the system: distinguishes processes that had the same pid. */
async function startOf(pid: number): Promise<string | undefined> {
  try {
    const line = await readFile(`/proc/${pid}/stat`, "utf8");
    return line.slice(line.lastIndexOf(")") + 2).split(" ")[19];
  } catch {
    // Not Linux: the pid has to suffice.
    return undefined;
  }
}
