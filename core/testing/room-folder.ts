import { rmSync } from "node:fs";
import { lstat, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const PREFIX = "deneb-conformance-";
/** Milliseconds after which a folder whose process is gone is removed: processes of another container may use it and are not seen. */
const LEFT_ALONE = 3_600_000;

/** Of all rooms of this process. */
const made = new Set<string>();
let swept: Promise<void> | undefined;

/**
 * A new folder for one case; what is left of it goes when the process ends. What processes left that were ended by a signal is
 * removed by a later one.
 */
export async function roomFolder(): Promise<string> {
  swept ??= removeLeft();
  await swept;
  const folder = await mkdtemp(join(tmpdir(), `${PREFIX}${process.pid}-`));
  if (made.size === 0) process.once("exit", removeAll);
  made.add(folder);
  return folder;
}

/** What cases that did not end still have, and what components of others wrote after their case. */
function removeAll(): void {
  for (const folder of made) {
    try {
      rmSync(folder, { recursive: true, force: true });
    } catch {
      // A process that ends has nobody to tell.
    }
  }
}

async function removeLeft(): Promise<void> {
  const names = await readdir(tmpdir()).catch((): readonly string[] => []);
  for (const name of names) {
    const pid = name.startsWith(PREFIX) ? /^(\d+)-/.exec(name.slice(PREFIX.length))?.[1] : undefined;
    if (pid !== undefined && !isAlive(Number(pid))) await removeOld(join(tmpdir(), name)).catch(() => undefined);
  }
}

async function removeOld(folder: string): Promise<void> {
  const { uid, mtimeMs } = await lstat(folder);
  if (uid !== process.getuid?.() || Date.now() - mtimeMs < LEFT_ALONE) return;
  await rm(folder, { recursive: true, force: true });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // It lives and belongs to another user.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
