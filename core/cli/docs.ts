import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Command } from "commander";
import { sinkGroupProperties, sinkProperties, sourceProperties } from "../configuration/schema/component-properties.js";
import {
  kernelProperties,
  pluginFoldersProperty,
  pluginPackagesProperty,
} from "../configuration/schema/kernel-properties.js";
import { type KernelProperty, optionName } from "../configuration/schema/kernel-property.js";
import { type PluginFlags, pluginLocations } from "../configuration/schema/kernel-settings.js";
import { makeFolder } from "../files/make-folder.js";
import type { Schema } from "../sdk/index.js";
import type { CataloguedPlugin } from "../tokens.js";
import { type CommandContext, exitCodes, type Terminal, withPlugins } from "./command.js";
import { loadPlugins } from "./load.js";
import { GENERATED, propertyTable, referenceFile, referenceIndex, referencePage } from "./reference-page.js";

interface DocsOptions extends PluginFlags {
  readonly out: string;
}

export function define(command: Command, { terminal, exitWith }: CommandContext): void {
  withPlugins(command)
    .option("--out <folder>", "folder of the pages", "docs/reference")
    .action((options: DocsOptions) => exitWith(docs(options, terminal)));
}

/** `deneb docs`: writes the configuration reference of the agent and of every plugin found. */
async function docs(options: DocsOptions, terminal: Terminal): Promise<number> {
  const catalogue = await loadPlugins(pluginLocations(options, terminal.env), terminal);
  const written = await writeReference(options.out, catalogue.list());
  terminal.out(`${options.out}: ${written.length} pages written`);
  return exitCodes.success;
}

/** Writes the pages of the reference and removes generated pages of plugins that no longer exist; returns the names written. */
export async function writeReference(folder: string, plugins: readonly CataloguedPlugin[]): Promise<readonly string[]> {
  const pages = referencePages(plugins);
  await makeFolder(folder);
  for (const name of await readdir(folder)) {
    if (!pages.has(name) && (await isGenerated(join(folder, name)))) await rm(join(folder, name));
  }
  await Promise.all([...pages].map(([name, text]) => writeFile(join(folder, name), text)));
  return [...pages.keys()];
}

/** The text of every page by its file name. */
export function referencePages(plugins: readonly CataloguedPlugin[]): ReadonlyMap<string, string> {
  const definitions = plugins.map(({ definition }) => definition);
  return new Map([
    ["README.md", referenceIndex(definitions)],
    ["kernel.md", kernelPage()],
    ...definitions.map((definition) => [referenceFile(definition), referencePage(definition)] as const),
  ]);
}

async function isGenerated(file: string): Promise<boolean> {
  return file.endsWith(".md") && (await readFile(file, "utf8")).startsWith(GENERATED);
}

/** The markdown page of everything the agent itself reads, whatever the plugins are. */
function kernelPage(): string {
  const parts = [
    GENERATED,
    "# Kernel",
    "## Settings of the program",
    "An option of `deneb run` takes precedence over its environment variable, the variable over the default.",
    propertyTable(byOption({ ...kernelProperties, pluginFolders, pluginPackages })),
    "## Every source",
    "Each is written `<agent>.sources.<source>.<property> = <value>`.",
    propertyTable(sourceProperties),
    "## Every sink",
    "Each is written `<agent>.sinks.<sink>.<property> = <value>`.",
    propertyTable(sinkProperties),
    "## Every sink group",
    "Each is written `<agent>.sinkgroups.<group>.<property> = <value>`.",
    propertyTable(sinkGroupProperties),
  ];
  return `${parts.join("\n\n")}\n`;
}

const pluginFolders = { ...pluginFoldersProperty, format: "words", default: [] } as const;
const pluginPackages = { ...pluginPackagesProperty, format: "words", default: [] } as const;

/** The settings by their options; one without an option is named by its variable. */
function byOption(settings: Readonly<Record<string, KernelProperty>>): Schema {
  return Object.fromEntries(
    Object.values(settings).map((property) => {
      const { option, env } = property;
      return [option === undefined ? env : optionName(option), property];
    }),
  );
}
