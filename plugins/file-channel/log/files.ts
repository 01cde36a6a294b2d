import { constants } from "node:fs";
import { type FileHandle, open, readdir, stat } from "node:fs/promises";
import path from "node:path";
import { AgentError, codeOf } from "deneb/sdk";

/** The call through which a channel opens files for events; a parameter, so that a test can let the disk fail. */
export type OpenFile = (file: string) => Promise<WritableFile>;

export interface WritableFile {
  write(bytes: Buffer, offset: number, length: number, position: number): Promise<{ readonly bytesWritten: number }>;
  datasync(): Promise<void>;
  truncate(length: number): Promise<void>;
  close(): Promise<void>;
  /** How many names the file has; absent where it cannot be told. */
  links?(): Promise<number>;
}

/** Files hold the data of notifications: they are for their owner alone. */
export const PRIVATE = 0o600;

/** Ending of a file that is to take the place of another one. */
export const COMPACTED = ".compacted";

/** The disk is full, or the quota of the user is used up. */
export const WITHOUT_ROOM: ReadonlySet<string | undefined> = new Set(["ENOSPC", "EDQUOT"]);

/** Milliseconds between two looks whether a file that is written to still has its name. */
export const LOOK_MILLIS = 1000;

/** Creates a file; fails when it exists. */
export const openNewFile: OpenFile = process.platform === "linux" ? openDurable : openOther;

/**
 * On Linux each write to the file ends when its bytes and the length of the file are on disk, as after fdatasync: one
 * system call instead of two, and one wait for a turn of the event loop instead of two. On other systems O_DSYNC may
 * leave the bytes in the cache of the disk.
 */
async function openDurable(file: string): Promise<WritableFile> {
  const { O_CREAT, O_DSYNC, O_EXCL, O_WRONLY } = constants;
  const handle = await open(file, O_WRONLY | O_CREAT | O_EXCL | O_DSYNC, PRIVATE);
  return {
    write: (bytes, offset, length, position) => handle.write(bytes, offset, length, position),
    datasync: async () => {},
    truncate: (length) => handle.truncate(length),
    close: () => handle.close(),
    links: () => linksOf(handle),
  };
}

async function openOther(file: string): Promise<WritableFile> {
  const handle = await open(file, "wx", PRIVATE);
  return Object.assign(handle, { links: () => linksOf(handle) });
}

/** How many names an open file has. */
export async function linksOf(handle: FileHandle): Promise<number> {
  return (await handle.stat()).nlink;
}

/** Writes all bytes: one call may write fewer than it was given. */
export async function writeFully(file: Pick<WritableFile, "write">, bytes: Buffer, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, position + done);
    done += bytesWritten;
  }
}

/** Reads up to `length` bytes; fewer only at the end of the file. */
export async function readFully(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const target = Buffer.allocUnsafe(length);
  let held = 0;
  while (held < length) {
    const { bytesRead } = await file.read(target, held, length - held, position + held);
    if (bytesRead === 0) break;
    held += bytesRead;
  }
  return target.subarray(0, held);
}

/**
 * Throws code `NOT_A_FILE` where something else has the place of a file: to open a pipe may never end. Nothing is thrown where there is
 * none, or it cannot be looked at: to open it says why.
 */
export async function refuseNoFile(file: string): Promise<void> {
  // Big numbers, as where the kernel looks: it may be a pipe.
  const found = await stat(file, { bigint: true }).catch(() => undefined);
  if (found === undefined || found.isFile()) return;
  const kind = found.isDirectory() ? "a folder" : "a pipe, a socket or a device";
  const message = `opening "${file}": ${kind} has the place of a file; move it away`;
  throw new AgentError("NOT_A_FILE", message, { retryable: true });
}

/**
 * Opens a file of events; undefined when it was removed. Throws code `CHANNEL_FOLDER_GONE` when its whole folder is gone or
 * empty, as that of a disk that is not mounted now: the events may come back with it.
 */
export async function openSegment(file: string): Promise<FileHandle | undefined> {
  await refuseNoFile(file);
  try {
    return await open(file, "r");
  } catch (cause) {
    if (codeOf(cause) !== "ENOENT") throw cause;
    const folder = path.dirname(file);
    // One that is in use has at least its lock.
    if (!(await isEmpty(folder))) return undefined;
    throw folderGone(folder, "reading events", { cause });
  }
}

export function folderGone(folder: string, doing: string, options: { readonly cause?: unknown } = {}): AgentError {
  const message = `${doing}: the folder "${folder}" is gone; mount its disk, or put it back`;
  return new AgentError("CHANNEL_FOLDER_GONE", message, { ...options, retryable: true });
}

/** Also where there is none. */
export async function isEmpty(folder: string): Promise<boolean> {
  try {
    return (await readdir(folder)).length === 0;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return true;
    throw error;
  }
}

/** The system names no file where a read fails. */
export function notRead(file: string, cause: unknown): AgentError {
  return new AgentError("FILE_NOT_READ", `reading "${file}"`, { cause, retryable: true });
}

/** Makes the directory entries of new files durable. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** A file of a newer version is neither read nor changed: that version can still read all of it. */
export function newerVersion(file: string, version: number, known = 1): AgentError {
  const remedy = "start that version again and let it empty the channel, or move the folders of the channel away";
  return new AgentError(
    "CHANNEL_OF_NEWER_VERSION",
    `opening "${file}": it has version ${version} of its format, and this agent reads version ${known}; ${remedy}`,
    { retryable: false },
  );
}
