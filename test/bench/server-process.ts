import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

export interface ServerProcess {
  readonly child: ChildProcess;
  readonly pid: number;
  /** What `read` made of the output. */
  readonly ready: Readonly<Record<string, number>>;
  /** Ends it and waits for that; kills it when a minute was not enough. Safe to call twice. */
  stop(): Promise<void>;
}

const STOP_MILLISECONDS = 60_000;

/**
 * Starts a script of Node and reads its output line by line until `read` returns ports by name; its standard error is
 * shown.
 */
export async function startServer(
  args: readonly string[],
  read: (line: string) => Readonly<Record<string, number>> | undefined,
): Promise<ServerProcess> {
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit", "ipc"] });
  const kill = () => child.kill("SIGKILL");
  process.once("exit", kill);
  const exited = once(child, "exit").finally(() => process.off("exit", kill));
  const ready = new Promise<Readonly<Record<string, number>>>((resolve, reject) => {
    if (child.stdout === null) return reject(new Error("the process has no output"));
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
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill("SIGTERM");
      const killer = setTimeout(kill, STOP_MILLISECONDS);
      await exited;
      clearTimeout(killer);
    },
  };
}

/** What a process with the memory probe says of itself, in bytes and after its garbage is collected. */
export async function memoryOf({ child }: ServerProcess): Promise<{ readonly heap: number; readonly rss: number }> {
  child.send("memory");
  const [{ heapUsed, external, rss }] = await once(child, "message");
  return { heap: heapUsed + external, rss };
}
