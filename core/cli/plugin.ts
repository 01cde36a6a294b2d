import { access } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import type { Command } from "commander";
import { pluginsAt } from "../registry/discover.js";
import { AgentError, reasonOf } from "../sdk/index.js";
import { type ConformanceCase, type PluginSetup, pluginConformance } from "../testing/index.js";
import type { CataloguedPlugin } from "../tokens.js";
import { type CommandContext, exitCodes, type Terminal } from "./command.js";
import { defineDev } from "./plugin-dev.js";
import { defineNew } from "./plugin-new.js";

export function define(command: Command, context: CommandContext): void {
  const { terminal, exitWith } = context;
  defineNew(command.command("new"), context);
  defineDev(command.command("dev"), context);
  command
    .command("test")
    .description("run the conformance suites over the plugin in a folder")
    .argument("<folder>", "folder of the built plugin")
    .action((folder: string) => exitWith(testPlugin(folder, terminal)));
}

/** Milliseconds the import of the plugin may take. */
const loadLimit = 10_000;

/** `deneb plugin test`: runs the conformance suites over the plugins of a folder, each with the setup beside it. */
async function testPlugin(folder: string, terminal: Terminal): Promise<number> {
  const { plugins, problems } = await pluginsAt(folder, loadLimit);
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
