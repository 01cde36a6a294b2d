import { readdirSync, readFileSync } from "node:fs";

/** What processes have used so far; undefined where the system has no /proc to tell. */
export interface Usage {
  readonly cpuSeconds: number;
  /** Of them those of the main thread. */
  readonly mainThreadSeconds: number;
  readonly residentMebibytes: number;
  readonly peakMebibytes: number;
}

const CLOCK_TICKS_PER_SECOND = 100;

/** The usage of one process. */
export function usageOf(pid: number): Usage | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return {
      cpuSeconds: cpuSecondsIn(`/proc/${pid}/stat`),
      mainThreadSeconds: cpuSecondsIn(`/proc/${pid}/task/${pid}/stat`),
      residentMebibytes: kibibytes(status, "VmRSS") / 1024,
      peakMebibytes: kibibytes(status, "VmHWM") / 1024,
    };
  } catch {
    return undefined;
  }
}

function cpuSecondsIn(file: string): number {
  const stat = readFileSync(file, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS_PER_SECOND;
}

/** The usage of all processes of a group together, as long as they run. */
export function usageOfGroup(group: number): Usage | undefined {
  return together(processes().filter((pid) => statOf(pid)?.group === group));
}

/** The usage of a process and of those that it has started, as long as they run. */
export function usageOfFamily(parent: number): Usage | undefined {
  return together([parent, ...processes().filter((pid) => statOf(pid)?.parent === parent)]);
}

function together(pids: readonly number[]): Usage | undefined {
  const usages = pids.flatMap((pid) => usageOf(pid) ?? []);
  const sum = (of: keyof Usage) => usages.reduce((total, usage) => total + usage[of], 0);
  if (usages.length === 0) return undefined;
  return {
    cpuSeconds: sum("cpuSeconds"),
    mainThreadSeconds: sum("mainThreadSeconds"),
    residentMebibytes: sum("residentMebibytes"),
    peakMebibytes: sum("peakMebibytes"),
  };
}

/** CPU seconds so far of each process of a name, for example of a PostgreSQL server with its backends; by process id. */
export function cpuSecondsOf(command: string): ReadonlyMap<number, number> | undefined {
  const pids = processes();
  if (pids.length === 0) return undefined;
  const ours = pids.filter((pid) => commandOf(pid) === command);
  return new Map(ours.map((pid) => [pid, usageOf(pid)?.cpuSeconds ?? 0]));
}

/** What the processes used between two looks; one that ended in between does not count. */
export function cpuSecondsBetween(before: ReadonlyMap<number, number>, after: ReadonlyMap<number, number>): number {
  return [...after].reduce((sum, [pid, seconds]) => sum + seconds - (before.get(pid) ?? 0), 0);
}

/** None where the system has no /proc. */
function processes(): readonly number[] {
  try {
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    return [];
  }
}

function statOf(pid: number): { readonly parent: number; readonly group: number } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const [, parent, group] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return { parent: Number(parent), group: Number(group) };
  } catch {
    return undefined;
  }
}

function commandOf(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/comm`, "utf8").trim();
  } catch {
    return undefined;
  }
}

function kibibytes(status: string, field: string): number {
  return Number(new RegExp(`^${field}:\\s+(\\d+)`, "m").exec(status)?.[1] ?? Number.NaN);
}
