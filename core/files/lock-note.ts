import { hostname } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";

/** Who holds the lock of a folder, as its note says. */
interface Holder {
  readonly pid: number;
  readonly host: string;
  readonly since: string;
  /** The properties file that the process runs, as a path or as the note has it; undefined in notes of earlier versions. */
  readonly runs: string | undefined;
}

/** A line for people, which `holderOf` reads again. */
export function holderText({ pid, host, since, runs }: Holder): string {
  return `pid ${pid} on host ${host} since ${since}${runs === undefined ? "" : `, runs ${urlOf(runs)}`}`;
}

/** Undefined for any other text. */
export function holderOf(note: string): Holder | undefined {
  const { pid, host, since, runs } = NOTE.exec(note)?.groups ?? {};
  if (pid === undefined || host === undefined || since === undefined) return undefined;
  return { pid: Number(pid), host, since, runs };
}

const NOTE = /^pid (?<pid>\d+) on host (?<host>\S+) since (?<since>[^\s,]+)(?:, runs (?<runs>file:\S+))?$/;

/** Whether the holder is a living process of this host that runs this properties file. */
export function isRunning({ pid, host, runs }: Holder, file: string): boolean {
  if (host !== hostname() || runs !== urlOf(file)) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // It lives and belongs to another user.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/** A path in characters that every note can hold. */
function urlOf(file: string): string {
  return pathToFileURL(path.resolve(file)).href;
}
