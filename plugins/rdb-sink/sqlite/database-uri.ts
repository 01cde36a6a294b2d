import { pathToFileURL } from "node:url";

/**
 * The files of the system as SQLite itself reads them. libsql puts a layer for encryption between, which takes a read that
 * failed for one that succeeded: rows of other tables would be read, and written back.
 */
const FILES_OF_THE_SYSTEM = process.platform === "win32" ? "win32" : "unix";

/** How SQLite is given a file, here and in ATTACH. */
export function databaseUri(path: string): string {
  return `${pathToFileURL(path).href}?vfs=${FILES_OF_THE_SYSTEM}`;
}
