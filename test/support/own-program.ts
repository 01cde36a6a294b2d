import { spawn } from "node:child_process";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { endingWithProcess } from "./ends-with-process.js";
import { reachable } from "./reachable.js";
import { until } from "./until.js";

export interface ProgramOfOurs {
  readonly program: string;
  readonly args: readonly string[];
  /** Its files; removed with it. */
  readonly folder: string;
  readonly host: string;
  readonly port: number;
  readonly account?: { readonly uid: number; readonly gid: number } | undefined;
}

/**
 * Runs a server in the foreground and waits until it listens. The result ends it, as its host going down would, and removes
 * its files; it is safe to call twice.
 */
export async function startOwnProgram(of: ProgramOfOurs): Promise<() => Promise<void>> {
  const { program, args, folder, host, port, account } = of;
  const server = endingWithProcess(spawn(program, args, { ...account, cwd: folder, stdio: "ignore" }));
  const exited = once(server, "exit").catch(() => undefined);
  const stop = async (): Promise<void> => {
    server.kill("SIGKILL");
    await exited;
    await rm(folder, { recursive: true, force: true });
  };
  const gone = exited.then(() => {
    throw new Error(`${program} ended at its start, called with ${args.join(" ")}`);
  });
  gone.catch(() => undefined);
  try {
    const up = until(
      () => reachable(host, port),
      (answers) => answers,
    );
    await Promise.race([up, gone]);
    return stop;
  } catch (error) {
    await stop();
    throw error;
  }
}
