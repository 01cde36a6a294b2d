import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { installedProgram } from "../support/installed-program.js";

const run = promisify(execFile);

interface ToolOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Whether the program gets the variables of `env` alone. */
  readonly clean?: boolean;
}

/** Runs a program and returns what it printed; throws with what it said when it fails. */
export async function tool(
  program: string,
  args: readonly string[],
  { cwd, env, clean = false }: ToolOptions = {},
): Promise<string> {
  try {
    // Variables of the runner of the tests would make an inner Node report to it.
    const { NODE_TEST_CONTEXT: _context, ...own } = process.env;
    const options = { cwd, env: clean ? env : { ...own, ...env }, maxBuffer: 64 * 1024 * 1024 };
    return (await run(program, [...args], options)).stdout;
  } catch (error) {
    const said = error instanceof Error && "stderr" in error ? String(error.stderr) : "";
    const printed = error instanceof Error && "stdout" in error ? String(error.stdout) : "";
    throw new Error(`${program} ${args.join(" ")}: ${said.slice(-4000)}${printed.slice(-4000)}`, { cause: error });
  }
}

/** Why tests that need these programs are skipped, false when all are installed; root on Linux is needed by some. */
export async function without(programs: readonly string[], needsRoot = false): Promise<string | false> {
  for (const program of programs) {
    if ((await installedProgram(program)) === undefined) return `${program} is not installed`;
  }
  const isRoot = process.platform === "linux" && process.getuid?.() === 0;
  return needsRoot && !isRoot ? `${programs.join(" and ")} need root on Linux here` : false;
}
