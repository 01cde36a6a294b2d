import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Of all rooms of this process. */
const made = new Set<string>();

/** A new folder for one case; what is left of it goes when the process ends. */
export async function roomFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "deneb-conformance-"));
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
