import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { post } from "./post.js";
import { postgresqlOfBench } from "./postgresql-store.js";
import type { BenchRequest } from "./requests.js";
import type { ServerProcess } from "./server-process.js";

/** How the original agent, or any other one, is started and reached. */
export interface OriginalOrder {
  /** For the shell; runs in the foreground until it gets SIGTERM. */
  readonly command: string;
  /** Where it takes notifications. */
  readonly url: string;
  /** The PostgreSQL database that it writes to; absent: a new one, which the environment names. */
  readonly database?: string;
}

const READY_MILLISECONDS = 120_000;
const STOP_MILLISECONDS = 60_000;
const LOOK_MILLISECONDS = 20;

/** Runs the command, with the database in its environment, until it has answered the request with 200. */
export async function startOriginal(
  { command, url }: OriginalOrder,
  first: BenchRequest,
  database: string,
): Promise<{ readonly server: ServerProcess; readonly startedAt: number; readonly notifyUrl: string }> {
  if ((await statusOf(url, first)) !== undefined) throw new Error(`${url} answers before "${command}" is started`);
  const { host, port, user, password } = postgresqlOfBench();
  const given = { PGHOST: host, PGPORT: String(port), PGUSER: user, PGPASSWORD: password, PGDATABASE: database };
  const startedAt = Date.now();
  const child = spawn(command, {
    shell: true,
    detached: true, // The shell and what it starts are one group, which is ended as one.
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...process.env, ...given },
  });
  const server = groupOf(child);
  try {
    for (;;) {
      if ((await statusOf(url, first)) === 200) return { server, startedAt, notifyUrl: url };
      if (child.exitCode !== null)
        throw new Error(`"${command}" ended with ${child.exitCode} before ${url} answered 200`);
      if (Date.now() - startedAt > READY_MILLISECONDS) {
        throw new Error(
          `${url} did not answer 200 within ${READY_MILLISECONDS / 1000} s after "${command}" was started`,
        );
      }
      await pause(LOOK_MILLISECONDS);
    }
  } catch (error) {
    await server.stop();
    throw error;
  }
}

/** The status of the answer; undefined where nothing answers. */
async function statusOf(url: string, first: BenchRequest): Promise<number | undefined> {
  return await post(url, first).catch(() => undefined);
}

/** The process and all that it started. */
function groupOf(child: ChildProcess): ServerProcess {
  const { pid } = child;
  if (pid === undefined) throw new Error("the command of the original could not be started");
  const kill = () => void signal(pid, "SIGKILL");
  process.once("exit", kill);
  const exited = once(child, "exit");
  return {
    child,
    pid,
    ready: {},
    async stop() {
      signal(pid, "SIGTERM");
      const end = Date.now() + STOP_MILLISECONDS;
      while (signal(pid, 0)) {
        if (Date.now() > end) kill();
        await pause(LOOK_MILLISECONDS);
      }
      await exited;
      process.off("exit", kill);
    },
  };
}

/** Whether the group is still there. */
function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-pid, name);
  } catch {
    return false;
  }
}
