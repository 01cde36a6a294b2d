import { spawn } from "node:child_process";
import { once } from "node:events";
import { access, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { createInterface } from "node:readline";
import { AgentError, codeOf } from "../../sdk/index.js";
import type { Terminal } from "../command.js";

/** The file of the compiler that the package of a folder has installed; undefined for a folder that is not built. */
export async function compilerOf(folder: string): Promise<string | undefined> {
  try {
    await access(path.join(folder, "tsconfig.json"));
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
  try {
    const manifest = createRequire(path.join(folder, "package.json")).resolve("typescript/package.json");
    const { bin }: { readonly bin?: unknown } = JSON.parse(await readFile(manifest, "utf8"));
    return path.join(path.dirname(manifest), String(Reflect.get(Object(bin), "tsc")));
  } catch (cause) {
    const remedy = "run npm install there, and npm install --save-dev typescript if it is not in its package.json";
    throw new AgentError(
      "NO_COMPILER",
      `looking for the compiler of "${folder}", which has a tsconfig.json; ${remedy}`,
      {
        cause,
        retryable: false,
      },
    );
  }
}

/** Builds the folder; false when it has errors, which are printed, or when a stop is asked for. */
export async function build(compiler: string, folder: string, terminal: Terminal): Promise<boolean> {
  const began = performance.now();
  const signal = terminal.stopRequested;
  if (signal.aborted) return false;
  const child = spawn(process.execPath, [compiler, "-p", folder, "--pretty", "false"], {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const end = () => child.kill("SIGKILL");
  signal.addEventListener("abort", end);
  for (const output of [child.stdout, child.stderr]) createInterface({ input: output }).on("line", terminal.err);
  try {
    const [code] = await once(child, "close");
    if (code === 0) terminal.out(`built in ${Math.round(performance.now() - began)} ms`);
    return code === 0;
  } finally {
    signal.removeEventListener("abort", end);
  }
}
