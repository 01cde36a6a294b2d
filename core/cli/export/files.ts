import { randomUUID } from "node:crypto";
import { link, lstat, open, rename, rm, stat } from "node:fs/promises";
import { AgentError, codeOf } from "../../sdk/index.js";

/** Only the user may read it. */
const MODE = 0o600;

/**
 * Files that are written under other names, `NAME.<random>.partial`, and get theirs when all are complete: a part of them never
 * looks like all. The random part is the same for all, so that what a killed process leaves can be told.
 */
export class FilesAside {
  readonly #overwrite: boolean;
  readonly #ending = `.${randomUUID()}.partial`;
  readonly #files: string[] = [];

  /** Without `overwrite` a file that is there is code `FILE_EXISTS`; what is no file, such as `/dev/null`, is never replaced. */
  constructor(overwrite: boolean) {
    this.#overwrite = overwrite;
  }

  /** Has an empty file filled that will get this name. */
  async write<T>(file: string, fill: (temporary: string) => Promise<T>): Promise<T> {
    if (this.#overwrite) await refuseOther(file);
    else if (await exists(file)) throw alreadyThere(file);
    const temporary = `${file}${this.#ending}`;
    try {
      await (await open(temporary, "wx", MODE)).close();
      this.#files.push(file);
      const result = await fill(temporary);
      await synced(temporary);
      return result;
    } catch (cause) {
      if (!OF_DISKS.has(codeOf(cause))) throw cause;
      // The system names no file where a write fails.
      throw new AgentError("FILE_NOT_WRITTEN", `writing "${file}"`, { cause, retryable: false });
    }
  }

  /** Gives all files their names. When one cannot have its name, no new file has one. */
  async name(): Promise<void> {
    const made: string[] = [];
    try {
      for (const file of this.#files) {
        const temporary = `${file}${this.#ending}`;
        if (this.#overwrite) await rename(temporary, file);
        else {
          await named(temporary, file);
          made.push(file);
        }
      }
    } catch (error) {
      for (const file of made) await rm(file, { force: true });
      throw error;
    }
  }

  /** Removes what has no name, and the other names of what has one. */
  async clear(): Promise<void> {
    for (const file of this.#files) await rm(`${file}${this.#ending}`, { force: true });
  }
}

/** A link fails if somebody has made the file meanwhile; a rename would replace it. */
async function named(temporary: string, file: string): Promise<void> {
  try {
    await link(temporary, file);
  } catch (error) {
    if (codeOf(error) === "EEXIST") throw alreadyThere(file);
    // A file system without links.
    if (await exists(file)) throw alreadyThere(file);
    await rename(temporary, file);
  }
}

async function synced(file: string): Promise<void> {
  const handle = await open(file, "r+");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function exists(file: string): Promise<boolean> {
  try {
    await lstat(file);
    return true;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false;
    throw error;
  }
}

const OF_DISKS: ReadonlySet<string | undefined> = new Set(["ENOSPC", "EDQUOT", "EFBIG", "EIO", "EROFS"]);

/** A device or a pipe would become a file. */
async function refuseOther(file: string): Promise<void> {
  if (!(await exists(file)) || (await stat(file)).isFile()) return;
  const message = `writing "${file}": it is no file, and would be replaced by one; give another name, or - for the output`;
  throw new AgentError("FILE_EXISTS", message, { retryable: false });
}

function alreadyThere(file: string): AgentError {
  const message = `writing "${file}": it exists; give another name, or --overwrite to replace it`;
  return new AgentError("FILE_EXISTS", message, { retryable: false });
}
