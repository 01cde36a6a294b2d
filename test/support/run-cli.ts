import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";

/** The program. */
export const main = fileURLToPath(new URL("../../core/main.js", import.meta.url));

export interface CliResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the program to its end, as a user would. */
export function runCli(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<CliResult> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [main, ...args],
      { env: { ...process.env, ...env }, timeout: 60_000 },
      (_error, stdout, stderr) => resolve({ code: child.exitCode ?? -1, stdout, stderr }),
    );
  });
}
