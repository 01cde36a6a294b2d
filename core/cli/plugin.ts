import { access, mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Command } from "commander";
import { declarationRules } from "../configuration/schema/declaration-rules.js";
import { pluginsAt } from "../registry/discover.js";
import { AgentError, codeOf, reasonOf } from "../sdk/index.js";
import { type ConformanceCase, type PluginSetup, pluginConformance } from "../testing/index.js";
import type { CataloguedPlugin } from "../tokens.js";
import { type CommandContext, exitCodes, type Terminal } from "./command.js";
import { sinkFiles } from "./scaffold/sink-files.js";

export function define(command: Command, { terminal, exitWith }: CommandContext): void {
  command
    .command("new")
    .description("create the folder of a new sink plugin")
    .argument("<name>", "name of the plugin, for example my-sink")
    .option("--into <folder>", "folder in which the new one is created", ".")
    .action((name: string, options: { readonly into: string }) => exitWith(newPlugin(name, options, terminal)));
  command
    .command("test")
    .description("run the conformance suites over the plugin in a folder")
    .argument("<folder>", "folder of the built plugin")
    .action((folder: string) => exitWith(testPlugin(folder, terminal)));
}

const packageFolder = fileURLToPath(new URL("../../../", import.meta.url));
const taken: readonly string[] = ["index", "config", "conformance", "deneb"];

/** `deneb plugin new`: creates the folder of a sink plugin that works and passes its own tests. */
async function newPlugin(name: string, { into }: { readonly into: string }, terminal: Terminal): Promise<number> {
  if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name) || taken.includes(name)) {
    terminal.err(`the name "${name}" cannot be used: give lower case words joined by hyphens, for example my-sink`);
    return exitCodes.badInput;
  }
  const folder = path.resolve(into, name);
  await makeFolder(folder);
  const files = sinkFiles({ name, devDependencies: await devDependencies(folder) });
  for (const [file, text] of Object.entries(files)) await writeFile(path.join(folder, file), text);
  terminal.out(`${folder}: ${Object.keys(files).join(", ")}`);
  terminal.out(`next: cd ${path.relative(".", folder)} && npm install && npm test`);
  return exitCodes.success;
}

async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(path.dirname(folder), { recursive: true });
    await mkdir(folder);
  } catch (cause) {
    const reason = codeOf(cause) === "EEXIST" ? "it exists already; give another name" : "it cannot be created";
    throw new AgentError("FOLDER_UNUSABLE", `creating the folder "${folder}": ${reason}`, { cause, retryable: false });
  }
}

/** The versions this program is built with; the program itself by its folder when it is not an installed package. */
async function devDependencies(folder: string): Promise<Readonly<Record<string, string>>> {
  const manifest: unknown = JSON.parse(await readFile(path.join(packageFolder, "package.json"), "utf8"));
  const version = textAt(manifest, ["version"]);
  const installed = packageFolder.split(path.sep).includes("node_modules");
  const versionOf = (name: string) => textAt(manifest, ["devDependencies", name]);
  return {
    "@types/node": versionOf("@types/node"),
    deneb: installed ? `^${version}` : `file:${path.relative(folder, packageFolder).split(path.sep).join("/")}`,
    typescript: versionOf("typescript"),
  };
}

function textAt(value: unknown, names: readonly string[]): string {
  const found = names.reduce<unknown>((at, name) => Reflect.get(Object(at), name), value);
  if (typeof found === "string") return found;
  throw new AgentError("PACKAGE_BROKEN", `reading package.json of deneb: it has no ${names.join(".")}`, {
    retryable: false,
  });
}

/** Milliseconds the import of the plugin may take. */
const loadLimit = 10_000;

/** `deneb plugin test`: runs the conformance suites over the plugins of a folder, each with the setup beside it. */
async function testPlugin(folder: string, terminal: Terminal): Promise<number> {
  const { plugins, problems } = await pluginsAt(folder, { limitMillis: loadLimit, rules: declarationRules });
  for (const { origin, cause, remedy } of problems) terminal.err(`plugin "${origin}": ${cause}; ${remedy}`);
  if (plugins.length === 0 && problems.length === 0) {
    terminal.err(`"${folder}" holds no plugin: build it first, and give the folder with its index.js or package.json`);
  }
  let failures = problems.length;
  for (const plugin of plugins) failures += await testOne(plugin, terminal);
  return plugins.length > 0 && failures === 0 ? exitCodes.success : exitCodes.failure;
}

async function testOne({ definition, origin }: CataloguedPlugin, terminal: Terminal): Promise<number> {
  const setup = await setupBeside(origin);
  if (setup === undefined) terminal.err(`"${origin}" has no conformance.js beside it: only its defaults are tested`);
  const cases = await pluginConformance(definition, setup ?? {});
  const failed: string[] = [];
  for (const one of cases) {
    const reason = await outcome(one);
    terminal.out(reason === undefined ? `ok ${one.name}` : `not ok ${one.name}: ${reason}`);
    if (reason !== undefined) failed.push(one.name);
  }
  const counts = `${cases.length - failed.length} passed, ${failed.length} failed`;
  terminal.out(`${definition.kind} ${definition.type}: ${counts}`);
  return failed.length;
}

async function outcome({ run }: ConformanceCase): Promise<string | undefined> {
  try {
    await run();
    return undefined;
  } catch (error) {
    return reasonOf(error);
  }
}

async function setupBeside(origin: string): Promise<PluginSetup | undefined> {
  const file = path.join(path.dirname(origin), "conformance.js");
  try {
    await access(file);
  } catch {
    return undefined;
  }
  const loaded: { readonly setup?: unknown } = await import(pathToFileURL(file).href);
  if (isSetup(loaded.setup)) return loaded.setup;
  throw new AgentError("NO_SETUP", `reading "${file}": it must export "setup", a PluginSetup of deneb/sdk/testing`, {
    retryable: false,
  });
}

function isSetup(value: unknown): value is PluginSetup {
  if (typeof value !== "object" || value === null) return false;
  const kinds = ["config", "openStore", "openInlet", "limits"].map((name) => typeof Reflect.get(value, name));
  return kinds.every((kind) => kind === "function" || kind === "undefined");
}
