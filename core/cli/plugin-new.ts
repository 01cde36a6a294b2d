import { mkdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { Argument, type Command, Option } from "commander";
import { makeFolder } from "../files/make-folder.js";
import { AgentError, codeOf } from "../sdk/index.js";
import { type CommandContext, exitCodes, type Terminal } from "./command.js";
import { loadPlugins } from "./load.js";
import type { Language, Versions } from "./scaffold/package-texts.js";
import { pluginFiles } from "./scaffold/plugin-files.js";
import { declaredKind, type NewKind, namesOf, newKinds, type PluginNames } from "./scaffold/plugin-names.js";

interface NewOptions {
  readonly into: string;
  readonly language: keyof typeof languages;
}

const languages = { ts: "ts", typescript: "ts", js: "js", javascript: "js" } as const satisfies Record<
  string,
  Language
>;

export function defineNew(command: Command, { terminal, exitWith }: CommandContext): void {
  const language = new Option("--language <language>", "language of the plugin")
    .choices(Object.keys(languages))
    .default("typescript");
  command
    .description("create the package of a new plugin that works")
    .addArgument(kindArgument())
    .argument("[name]", "name of the plugin, for example my-sink or @scope/my-sink")
    .option("--into <folder>", "folder in which the new one is created", ".")
    .addOption(language)
    .action((first: string, second: string | undefined, options: NewOptions) =>
      exitWith(newPlugin({ first, second }, options, terminal)),
    );
}

/** The kinds are for the completion; a word that is none may be the name of a sink. */
function kindArgument(): Argument {
  const argument = new Argument("<kind>", "kind of the plugin; may be left out for a sink");
  argument.argChoices = [...newKinds];
  return argument;
}

const packageFolder = fileURLToPath(new URL("../../../", import.meta.url));

interface Words {
  readonly first: string;
  readonly second: string | undefined;
}

/** `deneb plugin new`: creates the package of a plugin that works and passes its own tests. */
async function newPlugin(words: Words, { into, language }: NewOptions, terminal: Terminal): Promise<number> {
  const names = namesIn(words, terminal);
  if (names === undefined) return exitCodes.badInput;
  const kind = declaredKind(names.kind);
  const catalogue = await loadPlugins({ pluginFolders: [], pluginPackages: [] }, terminal);
  if (catalogue.find(kind, names.type) !== undefined) {
    terminal.err(`the name "${names.type}" cannot be used: Deneb has a type of ${kind} with it; give another name`);
    return exitCodes.badInput;
  }
  const folder = path.resolve(into, names.folder);
  await makeNew(folder);
  const files = pluginFiles({
    names,
    language: languages[language],
    versions: await versionsFor(folder),
    licence: await readFile(path.join(packageFolder, "LICENSE"), "utf8").catch(() => undefined),
  });
  await writeAll(folder, files);
  terminal.out(`${folder}: ${Object.keys(files).join(", ")}`);
  terminal.out(`package ${names.packageName}, type ${names.type}`);
  terminal.out(`next: cd ${path.relative(".", folder)} && npm install && npm test`);
  return exitCodes.success;
}

function namesIn({ first, second }: Words, terminal: Terminal): PluginNames | undefined {
  const kind = newKinds.find((known) => known === first);
  if (second === undefined && kind !== undefined) {
    terminal.err(`a name is missing: deneb plugin new ${kind} my-${kind}`);
    return undefined;
  }
  if (second !== undefined && kind === undefined) {
    terminal.err(`"${first}" is not a kind of plugin; give one of ${newKinds.join(", ")}`);
    return undefined;
  }
  const given = second ?? first;
  const chosen: NewKind = kind ?? "sink";
  const names = namesOf(chosen, given);
  if (names === undefined) {
    const example = `give lower case words joined by hyphens, for example my-${chosen} or @my-scope/my-${chosen}`;
    terminal.err(`the name "${given}" cannot be used: ${example}`);
  }
  return names;
}

async function makeNew(folder: string): Promise<void> {
  try {
    await makeFolder(path.dirname(folder));
    await mkdir(folder);
  } catch (cause) {
    const reason = codeOf(cause) === "EEXIST" ? "it exists already; give another name" : "it cannot be created";
    throw new AgentError("FOLDER_UNUSABLE", `creating the folder "${folder}": ${reason}`, { cause, retryable: false });
  }
}

/** Writes all files or, after a failure, leaves nothing. */
async function writeAll(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  try {
    for (const [file, text] of Object.entries(files)) {
      await makeFolder(path.dirname(path.join(folder, file)));
      await writeFile(path.join(folder, file), text);
    }
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

/** What this program is built with. Deneb is named by its folder: its name could be anybody's in a registry. */
async function versionsFor(folder: string): Promise<Versions> {
  const manifest: unknown = JSON.parse(await readFile(path.join(packageFolder, "package.json"), "utf8"));
  // npm follows the links of the folder that it works in before it goes up from there.
  const real = await realpath(folder);
  const from = path.relative(real, await installedFolder(textAt(manifest, ["name"]), real));
  return {
    deneb: `^${textAt(manifest, ["version"])}`,
    denebSpecifier: `file:${from.split(path.sep).join("/")}`,
    range: (name) => {
      const section = ["dependencies", "devDependencies"].find((one) => valueAt(manifest, [one, name]) !== undefined);
      return textAt(manifest, [section ?? "dependencies", name]);
    },
  };
}

/**
 * Where this program is found from a folder: the link in `node_modules` where pnpm made one, since the folder behind it has another
 * name after each change of what is installed. Else the folder itself.
 */
async function installedFolder(name: string, from: string): Promise<string> {
  const own = await realpath(packageFolder);
  for (let folder = from; ; folder = path.dirname(folder)) {
    const link = path.join(folder, "node_modules", name);
    if ((await realpath(link).catch(() => undefined)) === own) return link;
    if (path.dirname(folder) === folder) return own;
  }
}

function textAt(value: unknown, names: readonly string[]): string {
  const found = valueAt(value, names);
  if (typeof found === "string") return found;
  throw new AgentError("PACKAGE_BROKEN", `reading package.json of deneb: it has no ${names.join(".")}`, {
    retryable: false,
  });
}

function valueAt(value: unknown, names: readonly string[]): unknown {
  return names.reduce<unknown>((at, name) => Reflect.get(Object(at), name), value);
}
