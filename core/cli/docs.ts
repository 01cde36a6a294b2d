import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type PluginFlags, pluginLocations } from "../configuration/schema/kernel-settings.js";
import type { CataloguedPlugin } from "../tokens.js";
import { kernelPage } from "./kernel-page.js";
import { loadPlugins } from "./load.js";
import { GENERATED, referenceFile, referenceIndex, referencePage } from "./reference-page.js";
import { exitCodes, type Terminal } from "./terminal.js";

/** `deneb docs`: writes the configuration reference of the agent and of every plugin that was found. */
export async function docs(folder: string, flags: PluginFlags, terminal: Terminal): Promise<number> {
  const catalogue = await loadPlugins(pluginLocations(flags, terminal.env), terminal);
  const written = await writeReference(folder, catalogue.list());
  terminal.out(`${folder}: ${written.length} pages written`);
  return exitCodes.success;
}

/** Writes the pages of the reference and removes generated ones of plugins that are gone; returns the names written. */
export async function writeReference(folder: string, plugins: readonly CataloguedPlugin[]): Promise<readonly string[]> {
  const pages = referencePages(plugins);
  await mkdir(folder, { recursive: true });
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
