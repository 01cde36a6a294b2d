import type { ChildProcess } from "node:child_process";
import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { until } from "./until.js";

const run = promisify(execFile);

/** Sends SIGSTOP; resolves when the process stands still. The signal alone returns while threads on other cores go on. */
export async function freeze(process: ChildProcess): Promise<void> {
  if (process.pid === undefined || process.exitCode !== null || process.signalCode !== null) return;
  const { pid } = process;
  process.kill("SIGSTOP");
  await until(
    () => statesOf(pid),
    (states) => states.every((state) => state.startsWith("T") || state.startsWith("Z")),
  );
}

/** The state of each thread, by its letter in ps; where there is no /proc, that of the process. */
async function statesOf(pid: number): Promise<readonly string[]> {
  const tasks = `/proc/${pid}/task`;
  const threads = await readdir(tasks).catch(() => undefined);
  if (threads === undefined) return await stateByPs(pid);
  const stats = threads.map((thread) => readFile(`${tasks}/${thread}/stat`, "utf8").catch(() => ""));
  return (await Promise.all(stats)).map(stateIn);
}

/** Nothing when the process has ended. */
async function stateByPs(pid: number): Promise<readonly string[]> {
  const shown = await run("ps", ["-o", "state=", "-p", String(pid)]).catch(() => undefined);
  return shown === undefined ? [] : [shown.stdout.trim()];
}

// pid (name) state ...: the name may hold spaces and brackets. Nothing for a thread that has ended: ask again.
function stateIn(stat: string): string {
  return stat.slice(stat.lastIndexOf(")") + 2);
}
