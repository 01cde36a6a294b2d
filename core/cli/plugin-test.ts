import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { setImmediate } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { type Command, InvalidArgumentError } from "commander";
import { declarationRules } from "../configuration/schema/declaration-rules.js";
import { pluginsAt } from "../registry/discover.js";
import { reasonOf } from "../sdk/index.js";
import { type PluginSetup, pluginConformance } from "../testing/index.js";
import { notTested } from "../testing/not-tested.js";
import { withSameProcess } from "../testing/process-state.js";
import type { CataloguedPlugin } from "../tokens.js";
import { type CommandContext, exitCodes, type Terminal } from "./command.js";
import { CaseRunner } from "./plugin-case.js";
import { type CaseResult, type PluginResult, writeReport } from "./plugin-report.js";
import { setupOf } from "./plugin-setup-of.js";
import { changedAfterBuild } from "./plugin-sources.js";

interface TestOptions {
  readonly report?: string;
  readonly caseSeconds?: number;
  readonly seed?: number;
}

export function defineTest(command: Command, { terminal, version, exitWith }: CommandContext): void {
  command
    .command("test")
    .description("check the types of the plugin in a folder and run the conformance suites over it")
    .argument("<folder>", "folder of the built plugin")
    .option("--case-seconds <seconds>", "seconds that one case may take (default: 60, or what the setup says)", count)
    .option("--seed <number>", "repeats the random failures of an earlier run", count)
    .option(
      "--report <file>",
      "also writes the result to a file that the package ships, deneb-report.json in its folder",
    )
    .action((folder: string, options: TestOptions) => exitWith(testPlugin(folder, options, { terminal, version })));
}

function count(text: string): number {
  const value = Number(text);
  if (/^[0-9]+$/.test(text) && Number.isSafeInteger(value) && value > 0) return value;
  throw new InvalidArgumentError(`"${text}" is no count; give a whole number above 0`);
}

/** Milliseconds the import of the plugin may take. */
const loadLimit = 10_000;

/** `deneb plugin test`: runs the conformance suites over the plugins of a folder, each with the setup beside it. */
async function testPlugin(
  folder: string,
  options: TestOptions,
  { terminal, version }: Pick<CommandContext, "terminal" | "version">,
): Promise<number> {
  if (!(await typesAreRight(folder, terminal))) return exitCodes.failure;
  const runner = new CaseRunner(terminal);
  const { plugins, problems, changes } = await loaded(folder, terminal);
  for (const { origin, cause, remedy } of problems) terminal.err(`plugin "${origin}": ${cause}; ${remedy}`);
  if (plugins.length === 0 && problems.length === 0) {
    terminal.err(`"${folder}" holds no plugin: build it first, and give the folder with its index.js or package.json`);
  }
  let failures = problems.filter(({ harmless }) => harmless !== true).length + changes;
  for (const { origin } of plugins) await tellOfOldBuild(origin, terminal);
  const results: PluginResult[] = [];
  for (const plugin of plugins) results.push(await testOne(plugin, options, { terminal, runner }));
  // What the plugin left behind has its last chance to fail.
  await setImmediate();
  failures +=
    runner.outside + results.flatMap(({ cases }) => cases).filter(({ failure }) => failure !== undefined).length;
  if (options.report !== undefined && plugins.length > 0) {
    await writeReport(options.report, { folder, plugins: results, version, now: new Date() });
    terminal.out(`report written to ${options.report}`);
  }
  return plugins.length > 0 && failures === 0 ? exitCodes.success : exitCodes.failure;
}

/** What the folder declares, and how many changes of the process its modules made when they were loaded: 0 or 1. */
async function loaded(folder: string, terminal: Terminal) {
  let found: Awaited<ReturnType<typeof pluginsAt>> = { plugins: [], problems: [] };
  try {
    const listensTo = (signal: string) =>
      terminal.out(`warning: its modules, or a dependency, listen to ${signal} once they are loaded; ${listening}`);
    await withSameProcess(async () => {
      found = await pluginsAt(folder, { limitMillis: loadLimit, rules: declarationRules });
    }, listensTo);
    return { ...found, changes: 0 };
  } catch (error) {
    terminal.out(`not ok when its modules are loaded: ${reasonOf(error)}`);
    return { ...found, changes: 1 };
  }
}

const listening = "the listener must not end the process, which stops in order by itself";

/** A compiler may leave a file as it is whose result is the same: that is no fault. */
async function tellOfOldBuild(origin: string, terminal: Terminal): Promise<void> {
  const source = await changedAfterBuild(path.dirname(origin));
  if (source === undefined) return;
  terminal.err(
    `"${source}" was changed after "${origin}" was built: build it (npm run build), or older code is tested`,
  );
}

/** True, too, where there is nothing to check with. */
async function typesAreRight(folder: string, terminal: Terminal): Promise<boolean> {
  const project = path.resolve(folder, "tsconfig.json");
  if (!existsSync(project)) return true;
  const compiler = compilerOf(project);
  if (compiler === undefined) {
    terminal.err(`"${project}" is there and TypeScript is not: types are not checked; npm install would bring it`);
    return true;
  }
  terminal.out(`run types: tsc --noEmit --project ${project}`);
  const faults = await output(compiler, ["--noEmit", "--pretty", "false", "--project", project], path.dirname(project));
  if (faults === undefined) {
    terminal.out("ok types");
    return true;
  }
  terminal.out("not ok types: what is built may be older than its source, so no case is run");
  for (const line of faults) terminal.out(`  ${line}`);
  return false;
}

/** The compiler that the plugin is built with. */
function compilerOf(project: string): string | undefined {
  const require = createRequire(project);
  try {
    return path.join(path.dirname(require.resolve("typescript/package.json")), "bin", "tsc");
  } catch {
    return undefined;
  }
}

/** The lines of a program that fails; undefined when it does not. */
function output(program: string, args: readonly string[], cwd: string): Promise<readonly string[] | undefined> {
  return new Promise((resolve) => {
    execFile(process.execPath, [program, ...args], { cwd }, (error, stdout, stderr) => {
      const lines = `${stdout}${stderr}`.split("\n").filter((line) => line.trim() !== "");
      resolve(error === null ? undefined : lines.length > 0 ? lines : [error.message]);
    });
  });
}

async function testOne(
  { definition: { kind, type }, definition, origin }: CataloguedPlugin,
  options: TestOptions,
  { terminal, runner }: { readonly terminal: Terminal; readonly runner: CaseRunner },
): Promise<PluginResult> {
  const setup = await setupBeside(origin, terminal);
  if (setup === undefined) terminal.err(`"${origin}" has no conformance.js beside it: only its defaults are tested`);
  const cases: CaseResult[] = [];
  const toRun = await pluginConformance(definition, { ...setup, ...options });
  for (const one of toRun) {
    const failure = await runner.failureOf(one);
    cases.push({ name: one.name, ...(failure === undefined ? {} : { failure }) });
  }
  const failed = cases.filter(({ failure }) => failure !== undefined).length;
  const left = notTested(definition, toRun);
  for (const part of left) terminal.out(`not tested: ${part}`);
  terminal.out(`${kind} ${type}: ${cases.length - failed} passed, ${failed} failed`);
  return { kind, type, cases, notTested: left };
}

async function setupBeside(origin: string, terminal: Terminal): Promise<PluginSetup | undefined> {
  const file = path.join(path.dirname(origin), "conformance.js");
  if (!existsSync(file)) return undefined;
  const loaded: { readonly setup?: unknown } = await import(pathToFileURL(file).href);
  return setupOf(loaded.setup, file, terminal);
}
