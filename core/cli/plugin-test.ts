import { execFile } from "node:child_process";
import { access } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { type Command, InvalidArgumentError } from "commander";
import { pluginsAt } from "../registry/discover.js";
import { AgentError, reasonOf } from "../sdk/index.js";
import { type ConformanceCase, type PluginSetup, pluginConformance } from "../testing/index.js";
import type { CataloguedPlugin } from "../tokens.js";
import { type CommandContext, exitCodes, type Terminal } from "./command.js";

interface TestOptions {
  readonly caseSeconds?: number;
  readonly seed?: number;
}

export function defineTest(command: Command, { terminal, exitWith }: CommandContext): void {
  command
    .command("test")
    .description("check the types of the plugin in a folder and run the conformance suites over it")
    .argument("<folder>", "folder of the built plugin")
    .option("--case-seconds <seconds>", "seconds that one case may take (default: 60, or what the setup says)", count)
    .option("--seed <number>", "repeats the random failures of an earlier run", count)
    .action((folder: string, options: TestOptions) => exitWith(testPlugin(folder, options, terminal)));
}

function count(text: string): number {
  const value = Number(text);
  if (/^[0-9]+$/.test(text) && Number.isSafeInteger(value) && value > 0) return value;
  throw new InvalidArgumentError(`"${text}" is no count; give a whole number above 0`);
}

/** Milliseconds the import of the plugin may take. */
const loadLimit = 10_000;

/** `deneb plugin test`: runs the conformance suites over the plugins of a folder, each with the setup beside it. */
async function testPlugin(folder: string, options: TestOptions, terminal: Terminal): Promise<number> {
  if (!(await typesAreRight(folder, terminal))) return exitCodes.failure;
  const { plugins, problems } = await pluginsAt(folder, loadLimit);
  for (const { origin, cause, remedy } of problems) terminal.err(`plugin "${origin}": ${cause}; ${remedy}`);
  if (plugins.length === 0 && problems.length === 0) {
    terminal.err(`"${folder}" holds no plugin: build it first, and give the folder with its index.js or package.json`);
  }
  let failures = problems.length;
  for (const plugin of plugins) failures += await testOne(plugin, options, terminal);
  return plugins.length > 0 && failures === 0 ? exitCodes.success : exitCodes.failure;
}

/** True, too, where there is nothing to check with. */
async function typesAreRight(folder: string, terminal: Terminal): Promise<boolean> {
  const project = path.resolve(folder, "tsconfig.json");
  if (!(await isThere(project))) return true;
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

async function testOne({ definition, origin }: CataloguedPlugin, options: TestOptions, terminal: Terminal) {
  const setup = await setupBeside(origin);
  if (setup === undefined) terminal.err(`"${origin}" has no conformance.js beside it: only its defaults are tested`);
  const cases = await pluginConformance(definition, { ...setup, ...options });
  let failed = 0;
  for (const one of cases) if (!(await passes(one, terminal))) failed += 1;
  terminal.out(`${definition.kind} ${definition.type}: ${cases.length - failed} passed, ${failed} failed`);
  return failed;
}

/** The name comes first: of a case that never ends, and of a plugin that ends the process, it is all there is to see. */
async function passes({ name, run }: ConformanceCase, terminal: Terminal): Promise<boolean> {
  terminal.out(`run ${name}`);
  try {
    await run();
    terminal.out(`ok ${name}`);
    return true;
  } catch (error) {
    terminal.out(`not ok ${name}: ${reasonOf(error)}`);
    for (const place of placesOf(error)) terminal.out(`  ${place}`);
    return false;
  }
}

const MOST_PLACES = 3;
const deneb = new URL("../", import.meta.url).href;

/** Where in the plugin the error, or what caused it, was made. */
function placesOf(error: unknown): readonly string[] {
  if (!(error instanceof Error)) return [];
  const lines = (error.stack ?? "").split("\n").map((line) => line.trim());
  const own = lines.filter((line) => line.startsWith("at ") && line.includes("file:") && !line.includes(deneb));
  return [...own, ...placesOf(error.cause)].slice(0, MOST_PLACES);
}

async function setupBeside(origin: string): Promise<PluginSetup | undefined> {
  const file = path.join(path.dirname(origin), "conformance.js");
  if (!(await isThere(file))) return undefined;
  const loaded: { readonly setup?: unknown } = await import(pathToFileURL(file).href);
  if (isSetup(loaded.setup)) return loaded.setup;
  throw new AgentError("NO_SETUP", `reading "${file}": it must export "setup", a PluginSetup of deneb/sdk/testing`, {
    retryable: false,
  });
}

async function isThere(file: string): Promise<boolean> {
  try {
    await access(file);
    return true;
  } catch {
    return false;
  }
}

function isSetup(value: unknown): value is PluginSetup {
  if (typeof value !== "object" || value === null) return false;
  const kinds = ["config", "openStore", "openInlet", "limits"].map((name) => typeof Reflect.get(value, name));
  return kinds.every((kind) => kind === "function" || kind === "undefined");
}
