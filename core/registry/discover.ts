import { access } from "node:fs/promises";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { flatPlugin } from "../sdk/fields.js";
import type { Kind } from "../sdk/index.js";
import type { CataloguedPlugin, PluginCatalogue } from "../tokens.js";
import { type Found, isOwn, type Loading, loadPlugin, type PluginProblem } from "./load-plugin.js";
import { type FoundModules, moduleOfPackage, modulesInFolder } from "./plugin-modules.js";
import { offerContract } from "./resolve-hook.js";

export interface Discovery {
  readonly catalogue: PluginCatalogue;
  readonly problems: readonly PluginProblem[];
}

/** Plugins besides those of the given folders, and the time-out of an import. */
interface FurtherPlugins extends Partial<Loading> {
  /** Names of installed npm packages. */
  readonly packages?: readonly string[];
  /** Folders from which the packages are searched for, in this order. */
  readonly from?: readonly string[];
  /** Whether the plugins of a folder are loaded; absent: all are. */
  readonly wanted?: (folder: string) => boolean;
}

const LIMIT_MILLIS = 10_000;

/** Finds the plugins in the given folders and packages. One that cannot be used is reported as a problem and does not affect the others. */
export async function discover(folders: readonly string[], further: FurtherPlugins = {}): Promise<Discovery> {
  const { packages = [], from = [], wanted = () => true, limitMillis = LIMIT_MILLIS, ...loading } = further;
  const bases = absolute(from);
  const found = await Promise.all([
    ...absolute(folders).map(modulesOf),
    ...[...new Set(packages)].map((name) => moduleOfPackage(name, bases)),
  ]);
  const modules = found.flatMap((one) => one.modules).filter(({ folder }) => wanted(folder));
  // The plugins of the program find `deneb/...` as parts of its package, without the hook, which costs a thread on Node 20.
  if (!modules.every(isOwn)) offerContract();
  const loaded = await Promise.all(modules.map((module) => loadPlugin(module, { ...loading, limitMillis })));
  const { catalogue, problems } = catalogueOf(loaded.flatMap(({ plugins }) => plugins));
  const notLoaded = [...found, ...loaded].flatMap((one) => one.problems);
  const leftOut = notLoaded.filter(({ harmless }) => harmless !== true);
  return { catalogue: { ...catalogue, leftOut }, problems: [...notLoaded, ...problems] };
}

/** The plugins below a folder, or the folder itself when it is one. */
async function modulesOf(folder: string): Promise<FoundModules> {
  const below = await modulesInFolder(folder);
  if (below.modules.length > 0 || below.problems.length > 0) return below;
  const { modules } = await modulesAt(folder);
  const remedy =
    'build it first; give a plugin with its index.js, or with a package.json that has the keyword "deneb-plugin", or the folder above it';
  const problem = { origin: folder, cause: "holds no plugin", remedy };
  return { modules, problems: modules.length > 0 ? [] : [problem] };
}

function absolute(folders: readonly string[]): readonly string[] {
  return [...new Set(folders.map((folder) => resolve(folder)))];
}

/** The plugin of a folder that is one itself (`index.js` in it, or a package), else the plugins below the folder. */
export async function pluginsAt(folder: string, loading: Loading): Promise<Found> {
  offerContract();
  const { modules, problems } = await modulesAt(resolve(folder));
  const loaded = await Promise.all(modules.map((module) => loadPlugin(module, loading)));
  return {
    plugins: loaded.flatMap(({ plugins }) => plugins),
    problems: [...problems, ...loaded.flatMap((one) => one.problems)],
  };
}

async function modulesAt(folder: string): Promise<FoundModules> {
  for (const name of ["index.js", "index.mjs"]) {
    const file = join(folder, name);
    if (await exists(file))
      return { modules: [{ origin: file, specifier: pathToFileURL(file).href, folder }], problems: [] };
  }
  return await modulesInFolder(folder);
}

async function exists(file: string): Promise<boolean> {
  try {
    await access(file);
    return true;
  } catch {
    return false;
  }
}

/** Catalogues plugins under their types and aliases; of two with the same name the first is used. */
export function catalogueOf(plugins: readonly CataloguedPlugin[]): {
  readonly catalogue: PluginCatalogue;
  readonly problems: readonly PluginProblem[];
} {
  const owners = new Map<string, CataloguedPlugin>();
  const kept: CataloguedPlugin[] = [];
  const problems: PluginProblem[] = [];
  for (const { definition, ...found } of plugins) {
    const plugin = { ...found, definition: flatPlugin(definition) };
    const { kind, type, aliases = [] } = plugin.definition;
    const taken = takenNames(plugin, owners);
    // A plugin whose type is taken would be reachable by its aliases only.
    const left = taken.includes(type);
    problems.push(...(left ? [type] : taken).map((name) => duplicate(plugin, name, owners)));
    if (left) continue;
    kept.push(plugin);
    for (const name of [type, ...aliases].filter((candidate) => !taken.includes(candidate))) {
      owners.set(nameKey(kind, name), plugin);
    }
  }
  const sorted = sortedPlugins(kept);
  const aliases = (kind: Kind) =>
    sorted.flatMap(({ definition }) => (definition.kind === kind ? (definition.aliases ?? []) : []));
  return {
    catalogue: { find: (kind, type) => owners.get(nameKey(kind, type))?.definition, list: () => sorted, aliases },
    problems,
  };
}

/** By kind, then type. */
export function sortedPlugins(plugins: readonly CataloguedPlugin[]): readonly CataloguedPlugin[] {
  return plugins.toSorted((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1));
}

type Owners = ReadonlyMap<string, CataloguedPlugin>;

function takenNames({ definition: { kind, type, aliases = [] } }: CataloguedPlugin, owners: Owners): readonly string[] {
  return [type, ...aliases].filter((name) => owners.has(nameKey(kind, name)));
}

function duplicate({ definition: { kind }, origin }: CataloguedPlugin, name: string, owners: Owners): PluginProblem {
  const first = owners.get(nameKey(kind, name))?.origin;
  return {
    origin,
    cause: `declares the ${kind} "${name}", which ${first} declares too; the first one is used`,
    remedy: "remove or rename one of the two",
  };
}

function nameKey(kind: Kind, name: string): string {
  return `${kind}/${name.toLowerCase()}`;
}

function sortKey({ definition: { kind, type } }: CataloguedPlugin): string {
  return nameKey(kind, type);
}
