import { resolve } from "node:path";
import type { PluginCatalogue } from "../tokens.js";
import { catalogueOf } from "./catalogue.js";
import { loadPlugin, type PluginModule } from "./load-plugin.js";
import { offerContract } from "./plugin-imports.js";
import { moduleOfPackage, modulesInFolder } from "./plugin-modules.js";
import type { PluginProblem } from "./plugin-problem.js";

export interface Discovery {
  readonly catalogue: PluginCatalogue;
  readonly problems: readonly PluginProblem[];
}

/** Where plugins are beside the given folders, and how long they may take. */
export interface FurtherPlugins {
  /** Names of installed npm packages. */
  readonly packages?: readonly string[];
  /** Folders from which the packages are looked for, in this order. */
  readonly from?: readonly string[];
  /** Milliseconds the import of one plugin may take. */
  readonly limitMillis?: number;
}

const LIMIT_MILLIS = 10_000;

/** Finds the plugins in the given folders and packages. What cannot be used is a problem; the others are there. */
export async function discover(folders: readonly string[], further: FurtherPlugins = {}): Promise<Discovery> {
  const { packages = [], from = [], limitMillis = LIMIT_MILLIS } = further;
  const bases = absolute(from);
  const found = await Promise.all([
    ...absolute(folders).map(modulesInFolder),
    ...[...new Set(packages)].map((name) => moduleOfPackage(name, bases)),
  ]);
  const modules = found.flatMap((one) => one.modules);
  if (!modules.every(isOwn)) offerContract();
  const loaded = await Promise.all(modules.map((module) => loadPlugin(module, limitMillis)));
  const { catalogue, problems } = catalogueOf(loaded.flatMap(({ plugins }) => plugins));
  return { catalogue, problems: [...[...found, ...loaded].flatMap((one) => one.problems), ...problems] };
}

/** The plugins of the program find `deneb/...` as parts of its package, without the hook, which costs a thread on Node 20. */
function isOwn({ specifier }: PluginModule): boolean {
  return specifier.startsWith(new URL("../../plugins/", import.meta.url).href);
}

function absolute(folders: readonly string[]): readonly string[] {
  return [...new Set(folders.map((folder) => resolve(folder)))];
}
