import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { promisify } from "node:util";

const run = promisify(execFile);

const MOST_BYTES = 2 ** 24;
const COLUMNS = ["pid", "ppid", "stat", "wchan", "args"].flatMap((name) => ["-o", `${name}=`]);

/** A process of this machine. */
export interface RunningProcess {
  readonly id: number;
  readonly parent: number;
  /** Its state, where it waits and its command line: the second tells one that waits for an event from one that is stuck in a call. */
  readonly text: string;
}

/** The processes of this machine: from /proc, because a small Linux has no ps, or from ps where there is no /proc. */
export async function runningProcesses(): Promise<readonly RunningProcess[]> {
  const names = await readdir("/proc").catch(() => []);
  const ids = names.filter((name) => /^\d+$/.test(name));
  if (ids.length === 0) return await shownByPs();
  return (await Promise.all(ids.map(described))).filter((one) => one !== undefined);
}

/** Undefined for one that has ended meanwhile. */
async function described(id: string): Promise<RunningProcess | undefined> {
  const part = (name: string) => readFile(`/proc/${id}/${name}`, "utf8").catch(() => "");
  const [stat, place, args] = await Promise.all([part("stat"), part("wchan"), part("cmdline")]);
  // pid (name) state parent ...: the name may hold spaces and brackets.
  const [, name, state, parent] = /^\d+ \((.*)\) (\S) (\d+) /s.exec(stat) ?? [];
  if (name === undefined) return undefined;
  const command = args === "" ? `[${name}]` : args.replaceAll("\0", " ").trimEnd();
  return { id: Number(id), parent: Number(parent), text: `${state} ${place} ${command}` };
}

async function shownByPs(): Promise<readonly RunningProcess[]> {
  const { stdout } = await run("ps", ["-A", "-ww", ...COLUMNS], { maxBuffer: MOST_BYTES });
  return stdout.split("\n").flatMap((line) => {
    const [, id, parent, text = ""] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
    return id === undefined ? [] : [{ id: Number(id), parent: Number(parent), text }];
  });
}
