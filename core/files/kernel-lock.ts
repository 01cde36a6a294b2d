import { appendFile, chmod, stat } from "node:fs/promises";
import { AgentError, codeOf } from "../sdk/index.js";
import { fullTables, OPEN_FILES_REMEDY } from "./refused-access.js";
import { refuseNoFile } from "./regular-file.js";

/** A lock held by the operating system: it is released when its process ends, however it ends. */
export interface KernelLock {
  release(): void;
}

/**
 * Locks a file, which is created when it is missing and stays empty; undefined when another process holds the lock. Node
 * has no call for it, SQLite does it on every system: an exclusive transaction is an fcntl lock on the file. Nothing else
 * in this process may open the file, because closing it would end the lock.
 */
export async function tryLock(file: string): Promise<KernelLock | undefined> {
  await refuseNoFile(file);
  const Database = await loadedDriver(file);
  const open = () => {
    const connection = opened(() => new Database(file), file);
    try {
      // Nothing is ever written: no journal, so that a full disk does not matter and a kill leaves nothing behind.
      connection.exec("PRAGMA journal_mode = MEMORY");
      connection.exec("BEGIN EXCLUSIVE");
      // On a read-only file, BEGIN succeeds and the first write fails.
      connection.exec("PRAGMA user_version = 1");
      return connection;
    } catch (error) {
      connection.close();
      throw error;
    }
  };
  const before = await inodeOf(file);
  try {
    const connection = open();
    const after = await inodeOf(file);
    if (before === undefined) await chmod(file, 0o600).catch(() => undefined);
    if (after !== undefined && (before === undefined || before === after)) return { release: () => connection.close() };
    // The file was replaced meanwhile: the next process would lock another file.
    connection.close();
    return undefined;
  } catch (error) {
    if (codeOf(error) === "SQLITE_BUSY") return undefined;
    await refuseForReason(file);
    throw lockFault(file, error);
  }
}

/** SQLite does not say why it cannot create or open a file; the system does. Another part of this process does not hold this one. */
async function refuseForReason(file: string): Promise<void> {
  try {
    await appendFile(file, "", { mode: 0o600 });
  } catch (cause) {
    const remedy = withoutRoom.get(codeOf(cause) ?? "") ?? (await remedyOfOwner(file));
    if (remedy !== undefined) throw unusable(file, cause, remedy);
  }
}

/** Undefined where the file is not there, or belongs to the user of this process. */
async function remedyOfOwner(file: string): Promise<string | undefined> {
  const owner = (await stat(file).catch(() => undefined))?.uid;
  const user = process.geteuid?.();
  if (owner === undefined || owner === user) return undefined;
  return `it belongs to user ${owner}; run as that user, or give the folder and all that is in it to user ${user}`;
}

const withoutRoom: ReadonlyMap<string, string> = new Map([
  ["ENOSPC", "free space, or inodes, there"],
  ["EDQUOT", "raise the quota of this user"],
  ...fullTables.map((code) => [code, OPEN_FILES_REMEDY] as const),
]);

async function loadedDriver(file: string) {
  try {
    return (await import("libsql")).default;
  } catch (cause) {
    const remedy = "its part for this system is an optional package: install on this system, without --omit=optional";
    throw new AgentError("FOLDER_NOT_LOCKABLE", `locking "${file}": libsql cannot be loaded (${remedy})`, {
      cause,
      retryable: false,
    });
  }
}

function opened<T>(open: () => T, file: string): T {
  try {
    return open();
  } catch (cause) {
    throw unusable(file, cause);
  }
}

const QUESTION = "is the folder writable for this user, and its file system not read-only?";

function unusable(file: string, cause: unknown, remedy = QUESTION): AgentError {
  return new AgentError("FOLDER_UNUSABLE", `creating the lock file "${file}" (${remedy})`, {
    cause,
    retryable: false,
  });
}

function lockFault(file: string, cause: unknown): unknown {
  const code = codeOf(cause) ?? "";
  if (code === "FOLDER_UNUSABLE") return cause;
  if (/^SQLITE_(CANTOPEN|READONLY|PERM)/.test(code)) return unusable(file, cause);
  if (/^SQLITE_(NOTADB|CORRUPT)/.test(code)) {
    const remedy = "a lock file is empty; remove it while no agent uses the folder";
    return new AgentError("FOLDER_NOT_LOCKABLE", `locking "${file}" (${remedy})`, { cause, retryable: false });
  }
  return notLockable(file, { cause });
}

/** A file system without locks: many network file systems have them as an option. */
export function notLockable(file: string, options: { readonly cause?: unknown } = {}): AgentError {
  const remedy = "its file system does not lock files; use a local one, or mount it with locks";
  return new AgentError("FOLDER_NOT_LOCKABLE", `locking "${file}" (${remedy})`, {
    ...options,
    retryable: false,
  });
}

async function inodeOf(file: string): Promise<bigint | undefined> {
  try {
    return (await stat(file, { bigint: true })).ino;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}
