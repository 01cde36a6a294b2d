import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { createInterface } from "node:readline";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { endingWithProcess } from "./ends-with-process.js";

const program = fileURLToPath(new URL("../../core/main.js", import.meta.url));

export interface AgentProcess {
  readonly notifyUrl: string;
  readonly managementUrl: string;
  readonly process: ChildProcess;
  /** Log lines so far, parsed. */
  readonly lines: readonly Readonly<Record<string, unknown>>[];
  /** Lines on standard error so far. */
  readonly errors: readonly string[];
  /** Sends the signal and waits for the end; resolves to the exit code, null after a signal. */
  end(signal: "SIGTERM" | "SIGINT" | "SIGKILL"): Promise<number | null>;
}

export interface AgentSetup {
  /** Text of the properties file; its source must listen on port 0. */
  readonly properties: string;
  readonly folder: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Further words of the command line. */
  readonly flags?: readonly string[];
  /** The file that is run; absent: that of the program. */
  readonly main?: string;
  /** How many files it may open; absent: as many as this process. */
  readonly openFiles?: number;
}

/** Starts the program as a user would, on free ports, and waits until it is ready. */
export async function startAgent(
  context: Pick<TestContext, "after">,
  { properties, folder, env = {}, flags: more = [], main = program, openFiles }: AgentSetup,
): Promise<AgentProcess> {
  const file = path.join(folder, "agent.properties");
  await writeFile(file, properties);
  const flags = ["--config", file, "--data-dir", path.join(folder, "data"), "--management-port", "0", ...more];
  const limited = openFiles === undefined ? [] : ["/bin/sh", "-c", `ulimit -n ${openFiles}; exec "$@"`, "sh"];
  const [command = "", ...args] = [...limited, process.execPath, main, "run", ...flags];
  const child = endingWithProcess(
    spawn(command, args, { env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] }),
  );
  context.after(() => child.kill("SIGKILL"));
  // All that it has written is read by then.
  const exited = once(child, "close");
  const lines: Record<string, unknown>[] = [];
  const errors: string[] = [];
  const ports = await readUntilReady(child, { lines, errors }, exited);
  return {
    notifyUrl: `http://127.0.0.1:${ports.intake}/notify`,
    managementUrl: `http://127.0.0.1:${ports.management}`,
    process: child,
    lines,
    errors,
    async end(signal) {
      child.kill(signal);
      const [code] = await exited;
      return code;
    },
  };
}

interface Output {
  readonly lines: Record<string, unknown>[];
  readonly errors: string[];
}

async function readUntilReady(child: ChildProcess, { lines, errors }: Output, exited: Promise<unknown>) {
  if (child.stdout === null || child.stderr === null) throw new Error("the agent has no output");
  createInterface({ input: child.stderr }).on("line", (line) => errors.push(line));
  const output = createInterface({ input: child.stdout });
  const ready = new Promise<void>((resolve) => {
    output.on("line", (text) => {
      const line: Record<string, unknown> = JSON.parse(text);
      lines.push(line);
      // Each worker says so, too.
      const isOwn = line["worker"] === undefined;
      if (isOwn && (line["message"] === "ready" || line["msg"] === "ready")) resolve();
    });
  });
  const gone = exited.then(() => {
    throw new Error(`the agent ended before it was ready: ${errors.join("\n")} ${JSON.stringify(lines)}`);
  });
  await Promise.race([ready, gone]);
  gone.catch(() => undefined);
  const portOf = (component: string) => lines.find((line) => line["component"] === component && line["port"])?.["port"];
  return { intake: portOf("http-source"), management: portOf("management") };
}
