import { statfs } from "node:fs/promises";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { DiskState } from "../metrics/host-instruments.js";

/** Milliseconds that a file system has to answer: one that does not, such as a network share that is gone, is left out. */
const LONGEST = 1000;

/** The folders that an agent writes to, and the room on their file systems. */
export class UsedFolders {
  /** By path, how often it is in use: a replaced channel and its successor have the same for a moment. */
  readonly #uses = new Map<string, number>();
  /** By path, the question that is not answered yet: a second one would wait as well. */
  readonly #asked = new Map<string, Promise<DiskState | undefined>>();

  constructor(dataDir: string) {
    this.add(dataDir);
  }

  /** Returns what ends the use. */
  add(folder: string): () => void {
    const full = path.resolve(folder);
    this.#uses.set(full, (this.#uses.get(full) ?? 0) + 1);
    let used = true;
    return () => {
      if (!used) return;
      used = false;
      const left = (this.#uses.get(full) ?? 1) - 1;
      if (left === 0) this.#uses.delete(full);
      else this.#uses.set(full, left);
    };
  }

  async disks(): Promise<readonly DiskState[]> {
    const end = new AbortController();
    const late = delay(LONGEST, undefined, { ref: false, signal: end.signal }).catch(() => undefined);
    const states = await Promise.all([...this.#uses.keys()].map((folder) => Promise.race([this.#ask(folder), late])));
    end.abort();
    return states.flatMap((state) => state ?? []);
  }

  #ask(folder: string): Promise<DiskState | undefined> {
    const known = this.#asked.get(folder);
    if (known !== undefined) return known;
    const question = diskOf(folder).finally(() => this.#asked.delete(folder));
    this.#asked.set(folder, question);
    return question;
  }
}

/** Undefined for a folder that is not there, or not any more. */
async function diskOf(folder: string): Promise<DiskState | undefined> {
  try {
    const { bavail, blocks, bsize } = await statfs(folder);
    return { path: folder, free: bavail * bsize, size: blocks * bsize };
  } catch {
    return undefined;
  }
}
