import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { Command } from "commander";
import { AgentError, codeOf } from "../sdk/index.js";
import { type CommandContext, exitCodes, type Terminal } from "./command.js";
import { defineTest } from "./plugin-test.js";
import { sinkFiles } from "./scaffold/sink-files.js";

export function define(command: Command, { terminal, version, exitWith }: CommandContext): void {
  command
    .command("new")
    .description("create the folder of a new sink plugin")
    .argument("<name>", "name of the plugin, for example my-sink")
    .option("--into <folder>", "folder in which the new one is created", ".")
    .action((name: string, options: { readonly into: string }) => exitWith(newPlugin(name, options, terminal)));
  defineTest(command, { terminal, version, exitWith });
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
