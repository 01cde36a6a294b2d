import { readFileSync } from "node:fs";

/** Where the system does not say how many files this process may open. */
const USUAL_LIMIT = 1024;
/** A database is three files, and twice as many may be closed and not yet released; the rest of the process needs most of them. */
const LIMIT_OF_A_DATABASE = 32;
const FEWEST = 4;
const MOST = 128;

/** The number of databases that a sink keeps open at once, of a process that may open this number of files. */
export function mostOpenDatabases(limit: number = openFileLimit()): number {
  return Math.min(MOST, Math.max(FEWEST, Math.floor(limit / LIMIT_OF_A_DATABASE)));
}

function openFileLimit(): number {
  try {
    const soft = /^Max open files +(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
    return soft === undefined ? USUAL_LIMIT : Number(soft);
  } catch {
    return USUAL_LIMIT;
  }
}
