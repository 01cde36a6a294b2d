import { readFile, readlink, rename, symlink, unlink } from "node:fs/promises";
import { hostname } from "node:os";
import path from "node:path";
import { AgentError, codeOf } from "deneb/sdk";

const NAME = "in_use.lock";

/**
 * Keeps a folder for one process. The lock is a symbolic link to `<pid>,<start of the process>,<host>`: it is made with
 * its content in one step and needs no room on a full disk. A lock whose process is gone is taken over.
 */
export class FolderLock {
  readonly #file: string;
  readonly #folder: string;
  #held: string | undefined;

  constructor(folder: string) {
    this.#folder = folder;
    this.#file = path.join(folder, NAME);
  }

  async take(): Promise<void> {
    const own = [process.pid, (await startOf(process.pid)) ?? "", hostname()].join(",");
    for (let attempt = 1; !(await this.#make(own)); attempt += 1) {
      const other = await this.#holder();
      if (other === undefined) continue;
      if (attempt > 3 || (await isAlive(other))) throw inUse(this.#folder, other);
      await this.#remove(other);
    }
    this.#held = own;
  }

  async release(): Promise<void> {
    if (this.#held !== undefined && (await this.#holder()) === this.#held) await unlink(this.#file);
    this.#held = undefined;
  }

  async #make(own: string): Promise<boolean> {
    try {
      await symlink(own, this.#file);
      return true;
    } catch (error) {
      if (codeOf(error) === "EEXIST") return false;
      throw error;
    }
  }

  async #holder(): Promise<string | undefined> {
    try {
      return await readlink(this.#file);
    } catch (error) {
      if (codeOf(error) === "ENOENT") return undefined;
      throw error;
    }
  }

  /** Moves a stale lock away; when another process was faster, that one's lock is given back. */
  async #remove(stale: string): Promise<void> {
    const aside = `${this.#file}.${process.pid}`;
    try {
      await rename(this.#file, aside);
    } catch (error) {
      if (codeOf(error) === "ENOENT") return;
      throw error;
    }
    const moved = await readlink(aside);
    if (moved !== stale) await this.#make(moved);
    await unlink(aside);
  }
}

/** A process of another host cannot be asked; its lock counts as left behind. */
async function isAlive(holder: string): Promise<boolean> {
  const [pid, start, host] = holder.split(",");
  if (host !== hostname()) return false;
  try {
    process.kill(Number(pid), 0);
  } catch (error) {
    if (codeOf(error) !== "EPERM") return false;
  }
  return ((await startOf(Number(pid))) ?? "") === start;
}

/** When a process began, in ticks since the start of the system: a number used again is told from the old one. */
async function startOf(pid: number): Promise<string | undefined> {
  try {
    const line = await readFile(`/proc/${pid}/stat`, "utf8");
    return line.slice(line.lastIndexOf(")") + 2).split(" ")[19];
  } catch {
    // Not a Linux: the number of the process has to do.
    return undefined;
  }
}

function inUse(folder: string, holder: string): AgentError {
  const pid = holder.split(",", 1).join();
  const remedy = "stop that process, or give this channel folders of its own";
  return new AgentError(
    "CHANNEL_FOLDER_IN_USE",
    `folder "${folder}" is in use by the process with pid ${pid}; ${remedy}`,
  );
}
