import { accessSync, closeSync, constants, openSync, rmSync, statSync } from "node:fs";
import { basename, dirname } from "node:path";
import { codeOf } from "deneb/sdk";
import Database from "libsql";
import { databaseUri } from "./database-uri.js";
import { KEPT_LOCKED } from "./kept-locks.js";

/** Opens a database file, which is made if it is missing. */
export function connect(path: string, timeout: number): Database.Database {
  try {
    return new Database(databaseUri(path), { timeout });
  } catch (error) {
    // Its message ends with the number of a result alone.
    const result = error instanceof Error ? /: (\d+)"?\)?$/.exec(error.message)?.[1] : undefined;
    if (result === undefined) throw error;
    throw codedError(nameOf(Number(result)), "unable to open database file");
  }
}

/** A file, what SQLite keeps beside it, and one more while it is made. */
const DESCRIPTORS_OF_A_FILE = 4;

/** Why the system refuses a file that SQLite cannot open, which does not say it; undefined if it does not refuse it now. */
export function refusalOf(path: string): Error | undefined {
  const opened: number[] = [];
  // Not the file itself: to close it would end the locks that others in this process have on it.
  const other = `${path}-tried`;
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found !== undefined) accessSync(path, constants.R_OK | constants.W_OK);
    opened.push(openSync(other, "w", 0o600));
    while (opened.length < DESCRIPTORS_OF_A_FILE) opened.push(openSync(dirname(path), "r"));
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : undefined;
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
    if (opened.length > 0) rmSync(other, { force: true });
  }
}

/** Throws where something else has the place of a file, or of one beside it: SQLite would say that the disk fails. */
export function refuseNoFiles(path: string, besides: readonly string[]): void {
  for (const file of [path, ...besides]) {
    // Big numbers: it may be a pipe.
    const found = statSync(file, { throwIfNoEntry: false, bigint: true });
    if (found === undefined || found.isFile()) continue;
    const place = file === path ? "its place" : `the place of ${basename(file)}`;
    const kind = found.isDirectory() ? "a folder" : "a pipe, a socket or a device";
    throw codedError("EISDIR", `${kind} has ${place}; move it away`);
  }
}

/**
 * Adds the name of the file to an error that is of the file and not of a statement, and its kind to one that the driver does not know,
 * such as that of a value which a STRICT table refuses.
 */
export function errorOfFile(error: unknown, file: string): unknown {
  const code = codeOf(error) ?? "";
  const result = /^UNKNOWN_SQLITE_ERROR_(\d+)$/.exec(code)?.[1];
  const name = result === undefined ? code : nameOf(Number(result));
  if (!(error instanceof Error) || name === "") return error;
  if (OF_FILES.test(name)) return codedError(name, `${file}: ${error.message}`);
  return name === code ? error : codedError(name, error.message);
}

function codedError(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}

/** The low byte of a result says its kind: https://www.sqlite.org/rescode.html */
function nameOf(result: number): string {
  return KINDS.get(result % 256) ?? OF_STATEMENTS.get(result % 256) ?? `SQLITE_${result}`;
}

const KINDS: ReadonlyMap<number, string> = new Map([
  [3, "SQLITE_PERM"],
  [5, "SQLITE_BUSY"],
  [6, "SQLITE_LOCKED"],
  [8, "SQLITE_READONLY"],
  [10, "SQLITE_IOERR"],
  [11, "SQLITE_CORRUPT"],
  [13, "SQLITE_FULL"],
  [14, "SQLITE_CANTOPEN"],
  [15, "SQLITE_PROTOCOL"],
  [23, "SQLITE_AUTH"],
  [26, "SQLITE_NOTADB"],
]);
const OF_STATEMENTS: ReadonlyMap<number, string> = new Map([
  [1, "SQLITE_ERROR"],
  [18, "SQLITE_TOOBIG"],
  [19, "SQLITE_CONSTRAINT"],
  [20, "SQLITE_MISMATCH"],
]);
const OF_FILES = new RegExp(`^(${[...KINDS.values(), KEPT_LOCKED].join("|")}|E[A-Z]+$)`);
