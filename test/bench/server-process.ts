import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

export interface ServerProcess {
  readonly child: ChildProcess;
  readonly pid: number;
  /** What `read` made of the output. */
  readonly ready: Readonly<Record<string, number>>;
  stop(): Promise<void>;
}

/**
 * Starts a script of Node and reads its output line by line until `read` returns ports by name; its standard error is
 * shown.
 */
export async function startServer(
  args: readonly string[],
  read: (line: string) => Readonly<Record<string, number>> | undefined,
): Promise<ServerProcess> {
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const exited = once(child, "exit");
  const ready = new Promise<Readonly<Record<string, number>>>((resolve, reject) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      const ports = read(line);
      if (ports !== undefined) resolve(ports);
    });
    exited.then(() => reject(new Error(`${args.join(" ")} ended before it was ready`)), reject);
  });
  const ports = await ready;
  return {
    child,
    pid: child.pid ?? 0,
    ready: ports,
    async stop() {
      child.kill("SIGTERM");
      await exited;
    },
  };
}
