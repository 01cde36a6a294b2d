import { readdirSync, readFileSync } from "node:fs";

/** What processes have used so far; undefined where the system has no /proc to tell. */
export interface Usage {
  readonly cpuSeconds: number;
  readonly residentMebibytes: number;
  readonly peakMebibytes: number;
}

const CLOCK_TICKS_PER_SECOND = 100;

/** The usage of one process. */
export function usageOf(pid: number): Usage | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    const ticks = Number(fields[11]) + Number(fields[12]);
    return {
      cpuSeconds: ticks / CLOCK_TICKS_PER_SECOND,
      residentMebibytes: kibibytes(status, "VmRSS") / 1024,
      peakMebibytes: kibibytes(status, "VmHWM") / 1024,
    };
  } catch {
    return undefined;
  }
}

/** CPU seconds so far of each process of a name, for example of a PostgreSQL server with its backends; by process id. */
export function cpuSecondsOf(command: string): ReadonlyMap<number, number> | undefined {
  let pids: readonly string[] = [];
  try {
    pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name) && commandOf(name) === command);
  } catch {
    return undefined;
  }
  return new Map(pids.map((pid) => [Number(pid), usageOf(Number(pid))?.cpuSeconds ?? 0]));
}

/** What the processes used between two looks; one that ended in between does not count. */
export function cpuSecondsBetween(before: ReadonlyMap<number, number>, after: ReadonlyMap<number, number>): number {
  return [...after].reduce((sum, [pid, seconds]) => sum + seconds - (before.get(pid) ?? 0), 0);
}

function commandOf(pid: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/comm`, "utf8").trim();
  } catch {
    return undefined;
  }
}

function kibibytes(status: string, field: string): number {
  return Number(new RegExp(`^${field}:\\s+(\\d+)`, "m").exec(status)?.[1] ?? Number.NaN);
}
