import { createProgram } from "../../core/cli/program.js";

export interface CommandResult {
  readonly exitCode: number;
  readonly out: string;
  readonly err: string;
}

/** Runs a command of the program in this process. */
export async function command(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<CommandResult> {
  const out: string[] = [];
  const err: string[] = [];
  const program = createProgram({
    out: (line) => out.push(line),
    err: (line) => err.push(line),
    env,
    stopRequested: new AbortController().signal,
  });
  const exitCode = await program.run(args);
  return { exitCode, out: out.join("\n"), err: err.join("\n") };
}
