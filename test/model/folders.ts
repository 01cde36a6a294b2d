import { copyFileSync, mkdirSync, readdirSync } from "node:fs";
import { access, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { codeOf } from "../../core/sdk/index.js";

/** Copies a folder as it is at this instant: no other code of this process runs meanwhile. Files that go away are left out. */
export function copyNow(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    if (entry.name.startsWith("deneb.lock")) continue;
    const [source, target] = [path.join(from, entry.name), path.join(to, entry.name)];
    if (entry.isDirectory()) copyNow(source, target);
    else copyFile(source, target);
  }
}

function copyFile(source: string, target: string): void {
  try {
    copyFileSync(source, target);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
  }
}

/** A file system in memory where there is one: the model has no power failures, and syncing a disk takes long. */
export async function newFolder(prefix: string): Promise<string> {
  const memory = "/dev/shm";
  const parent = await access(memory).then(
    () => memory,
    () => tmpdir(),
  );
  return await mkdtemp(path.join(parent, prefix));
}
