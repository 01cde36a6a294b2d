import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";

const child = fileURLToPath(new URL("./lock-child.js", import.meta.url));

export interface LockProcess {
  readonly process: ChildProcess;
  /** Its next line: "waiting", "locked", or why not. */
  says(): Promise<string>;
  kill(): Promise<void>;
}

export interface LockSetup {
  readonly seconds?: number;
  /** What the command line begins with, as `unshare` and its options. */
  readonly under?: readonly string[];
  /** Options of Node. */
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** It has as many files open as it may when it locks the folder. */
  readonly opensAll?: boolean;
}

/** Another process that locks a folder. */
export function lockProcess(
  context: Pick<TestContext, "after">,
  folder: string,
  { seconds = 0, under = [], flags = [], env = {}, opensAll = false }: LockSetup = {},
): LockProcess {
  const [command = "", ...words] = [
    ...under,
    process.execPath,
    ...flags,
    child,
    folder,
    String(seconds),
    opensAll ? "opens-all" : "",
  ];
  const started = spawn(command, words, { stdio: ["ignore", "pipe", "inherit"], env: { ...process.env, ...env } });
  const exited = once(started, "exit");
  context.after(() => started.kill("SIGKILL"));
  const lines = createInterface({ input: started.stdout })[Symbol.asyncIterator]();
  return {
    process: started,
    says: async () => (await lines.next()).value ?? "ended without a word",
    kill: async () => {
      started.kill("SIGKILL");
      await exited;
    },
  };
}
