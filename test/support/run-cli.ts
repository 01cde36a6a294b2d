import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";

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
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [program, ...args],
      { env: { ...process.env, ...env }, timeout: 60_000 },
      (_error, stdout, stderr) => resolve({ code: child.exitCode ?? -1, stdout, stderr }),
    );
  });
}
