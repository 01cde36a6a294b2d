import { chmodSync, rmSync, statSync } from "node:fs";
import { codeOf } from "deneb/sdk";
import type Database from "libsql";
import { connect, refusalOf, refuseNoFiles } from "./connection.js";

const OF_OTHERS = 0o077;

type Connection = Database.Database;

/** A file that is open. */
export interface OpenFile {
  readonly path: string;
  readonly inode: number | undefined;
  /** Inodes of the files beside it, by their paths. */
  readonly beside: ReadonlyMap<string, number | undefined>;
  readonly connection: Connection;
}

/** Opens a file to be read and written, in WAL mode; an error says why the system refuses it. */
export function openFile(path: string, busyMillis: number): OpenFile {
  try {
    return preparedFile(path, busyMillis);
  } catch (error) {
    throw (codeOf(error) === "SQLITE_CANTOPEN" ? refusalOf(path) : undefined) ?? error;
  }
}

function preparedFile(path: string, busyMillis: number): OpenFile {
  refuseNoFiles(path, besides(path));
  const connection = connect(path, busyMillis);
  try {
    closeToOthers(path);
    begin(connection, busyMillis);
  } catch (error) {
    connection.close();
    throw error;
  }
  const beside = new Map(besides(path).map((file) => [file, inodeOf(file)]));
  return { path, inode: inodeOf(path), beside, connection };
}

/** The `-wal` file of a usual load stays below it. Without a limit it never shrinks: not after a long reader, nor a large transaction. */
const MOST_BYTES_KEPT = 16 * 1024 * 1024;

// None of them prepared: that would keep the file open. The query makes the files beside it.
const BEGINNING = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  PRAGMA journal_size_limit = ${MOST_BYTES_KEPT};
  SELECT 1 FROM sqlite_master`;

/** Of two that make a file at once SQLite refuses one, whatever its time-out: each waits for what the other holds. */
function begin(connection: Connection, busyMillis: number): void {
  const end = performance.now() + busyMillis;
  for (;;) {
    try {
      connection.exec(`PRAGMA busy_timeout = ${busyMillis};${BEGINNING}`);
      return;
    } catch (error) {
      if (codeOf(error) !== "SQLITE_BUSY" || performance.now() >= end) throw error;
      Atomics.wait(pausing, 0, 0, 1 + Math.random() * MOST_PAUSE);
    }
  }
}

const MOST_PAUSE = 20;
const pausing = new Int32Array(new SharedArrayBuffer(4));

function besides(path: string): readonly string[] {
  return [`${path}-wal`, `${path}-shm`];
}

/**
 * Files beside it, such as `-wal`, get the permissions of the database; files of an earlier version may exist already.
 */
function closeToOthers(path: string): void {
  for (const file of [path, ...besides(path)]) {
    const found = statSync(file, { throwIfNoEntry: false });
    // A device is of the whole system.
    if (found === undefined || !found.isFile() || (found.mode & OF_OTHERS) === 0) continue;
    try {
      chmodSync(file, found.mode & 0o7777 & ~OF_OTHERS);
    } catch {
      // The file belongs to another user, who determines its permissions.
    }
  }
}

/**
 * Removes an open file that somebody emptied: SQLite itself gives a file its first page when it opens it. The connection keeps its locks
 * until it is collected, so that another one could not write to this file.
 */
export function removeEmptied({ path, inode }: OpenFile): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.ino === inode && found?.size === 0) rmSync(path, { force: true });
}

/** SQLite would take what the files beside a removed or replaced file hold for a part of the one that has its place. */
export function removeBeside({ beside }: OpenFile): void {
  for (const [path, inode] of beside) if (inode !== undefined && inodeOf(path) === inode) rmSync(path, { force: true });
}

/** Whether the files beside it are those that the connection writes to. */
export function hasItsBeside({ beside }: OpenFile): boolean {
  for (const [path, inode] of beside) if (inode !== undefined && inodeOf(path) !== inode) return false;
  return true;
}

/** What was committed since the last checkpoint is in the removed file beside it, which the connection still has. */
export function saveWritten({ connection }: OpenFile): void {
  try {
    connection.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  } catch {
    // What cannot be saved is missing when the file is opened again, and the position with it.
  }
}

export function inodeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino;
}
