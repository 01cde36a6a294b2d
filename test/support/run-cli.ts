import { execFile } from "node:child_process";
import { Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { createProgram } from "../../core/cli/program.js";

/** The program. */
export const main = fileURLToPath(new URL("../../core/main.js", import.meta.url));

export interface CliResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the program, or another installation of it, to its end, as a user would. */
export function runCli(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  program = main,
): Promise<CliResult> {
  return runProgram(process.execPath, [program, ...args], env);
}

/** The same with any program. */
export function runProgram(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<CliResult> {
  return new Promise((resolve) => {
    const child = execFile(
      program,
      args,
      { env: { ...process.env, ...env }, timeout: 300_000 },
      (_error, stdout, stderr) => resolve({ code: child.exitCode ?? -1, stdout, stderr }),
    );
  });
}

/** The same in this process, with these variables alone: most of the time of a short process goes into loading the program. */
export async function runHere(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<CliResult> {
  const out: string[] = [];
  const err: string[] = [];
  const bytes = new Writable({
    decodeStrings: false,
    write: (chunk, _encoding, done) => {
      out.push(String(chunk));
      done();
    },
  });
  const program = createProgram({
    out: (line) => out.push(`${line}\n`),
    err: (line) => err.push(`${line}\n`),
    bytes,
    env,
    stopRequested: new AbortController().signal,
  });
  const code = await program.run(args);
  return { code, stdout: out.join(""), stderr: err.join("") };
}
