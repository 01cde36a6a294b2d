import { readFile, readlink, unlink } from "node:fs/promises";
import { hostname } from "node:os";
import path from "node:path";
import { AgentError, codeOf } from "deneb/sdk";

export const FORMER_LOCK = "in_use.lock";

/**
 * Versions before the lock of the kernel left a symbolic link to `<pid>,<start of the process>,<host>` in the folder.
 * While that process lives on this host the folder is refused; otherwise the link is removed.
 */
export async function clearFormerLock(folder: string): Promise<void> {
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
    // Not there, or a file of somebody else with that name.
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
