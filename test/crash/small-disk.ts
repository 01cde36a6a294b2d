import { execFile } from "node:child_process";
import { createWriteStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";

const run = promisify(execFile);
const SIZE_MEBIBYTES = 128;

/** A file system that a test can fill without harm to others. */
export interface SmallDisk {
  readonly folder: string;
  /** Takes all the room there is. */
  fill(): Promise<void>;
  makeRoom(): Promise<void>;
  /** Gives it back; nobody may use it any more. */
  remove(): Promise<void>;
}

/** Undefined where none can be mounted: that takes root on Linux, in a container with the right to mount. */
export async function smallDisk(): Promise<SmallDisk | undefined> {
  if (process.platform !== "linux") return undefined;
  const folder = await mkdtemp(path.join(tmpdir(), "deneb-disk-"));
  try {
    await run("mount", ["-t", "tmpfs", "-o", `size=${SIZE_MEBIBYTES}m,mode=0755`, "tmpfs", folder]);
  } catch {
    await rm(folder, { recursive: true });
    return undefined;
  }
  const ballast = path.join(folder, "ballast");
  return {
    folder,
    fill: async () => {
      const zeros = Readable.from(Array.from({ length: 2 * SIZE_MEBIBYTES }, () => Buffer.alloc(2 ** 19)));
      await pipeline(zeros, createWriteStream(ballast)).catch(ignoreFull);
      await pipeline(Readable.from([Buffer.alloc(4096)]), createWriteStream(`${ballast}.rest`)).catch(ignoreFull);
    },
    makeRoom: async () => {
      await rm(ballast, { force: true });
      await rm(`${ballast}.rest`, { force: true });
    },
    remove: async () => {
      await run("umount", ["-l", folder]);
      await rm(folder, { recursive: true });
    },
  };
}

function ignoreFull(error: unknown): void {
  if (!(error instanceof Error && "code" in error && error.code === "ENOSPC")) throw error;
}
