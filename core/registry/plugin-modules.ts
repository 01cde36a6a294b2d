import { readdir, readFile, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { reasonOf } from "../sdk/index.js";
import type { PluginModule, PluginProblem } from "./load-plugin.js";
import { packageSpecifier } from "./resolve-hook.js";

export interface FoundModules {
  readonly modules: readonly PluginModule[];
  readonly problems: readonly PluginProblem[];
}

/**
 * The plugin modules of a folder: each `*` + `/index.js` or `.mjs`, and each package with the keyword `deneb-plugin`;
 * when the folder itself is such a package, that alone.
 */
export async function modulesInFolder(folder: string): Promise<FoundModules> {
  if (!(await isFolder(folder))) {
    const remedy = "create the folder, or correct its name on the command line or in the environment";
    return { modules: [], problems: [{ origin: folder, cause: "is not a folder", remedy }] };
  }
  const own = await packageAt(folder);
  if (own.modules.length > 0) return own;
  let names: readonly string[];
  try {
    names = await readdir(folder);
  } catch (error) {
    const remedy = "let the user of the agent read it";
    return { modules: [], problems: [{ origin: folder, cause: `cannot be read: ${reasonOf(error)}`, remedy }] };
  }
  const visible = names.filter((name) => !name.startsWith(".")).toSorted();
  const below = await Promise.all(visible.map((name) => moduleBelow(resolve(folder, name))));
  const plain = below.flatMap(({ plain }) => plain ?? []);
  const packages = [own, ...below.flatMap(({ ofPackage }) => ofPackage ?? [])];
  return {
    modules: [...plain, ...packages.flatMap(({ modules }) => modules)],
    problems: packages.flatMap(({ problems }) => problems),
  };
}

/** The module of an installed package, searched for from each of the folders in turn. */
export async function moduleOfPackage(name: string, bases: readonly string[]): Promise<FoundModules> {
  if (!/^(?:@[a-z0-9~-][\w.~-]*\/)?[a-z0-9~-][\w.~-]*$/i.test(name)) {
    const remedy = "name an installed package, and give folders with --plugins";
    return { modules: [], problems: [{ origin: name, cause: "is not the name of an npm package", remedy }] };
  }
  for (const base of bases) {
    const folder = await installedFolder(name, base);
    if (folder === undefined) continue;
    const specifier = packageSpecifier(name, pathToFileURL(join(base, "deneb.js")));
    return { modules: [{ origin: name, specifier, folder }], problems: [] };
  }
  const cause = `is not installed: it is in no node_modules folder, searched from ${bases.map((base) => `"${base}"`).join(" or ")}`;
  return { modules: [], problems: [{ origin: name, cause, remedy: await remedyForAbsent(name, bases) }] };
}

/** Who gives the type of a plugin means its package; the type alone is the name of a package of somebody else. */
async function remedyForAbsent(name: string, bases: readonly string[]): Promise<string> {
  if (name.startsWith(PREFIX) || name.startsWith("@")) return `run npm install ${name} there`;
  const usual = `${PREFIX}${name}`;
  for (const base of bases)
    if ((await installedFolder(usual, base)) !== undefined) return `name the package ${usual}, which is installed`;
  return `install its package there, which is called ${usual} by convention, and name that`;
}

const PREFIX = "deneb-plugin-";

function moduleOfFile(file: string, folder = dirname(file)): PluginModule {
  return { origin: file, specifier: pathToFileURL(file).href, folder };
}

interface ModuleBelow {
  readonly plain?: PluginModule;
  readonly ofPackage?: FoundModules;
}

async function moduleBelow(folder: string): Promise<ModuleBelow> {
  for (const name of ["index.js", "index.mjs"]) {
    const file = join(folder, name);
    if (await isFile(file)) return { plain: moduleOfFile(file) };
  }
  return { ofPackage: await packageAt(folder) };
}

async function isFile(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    return false;
  }
}

async function installedFolder(name: string, base: string): Promise<string | undefined> {
  const folder = join(base, "node_modules", name);
  if (await isFolder(folder)) return folder;
  return dirname(base) === base ? undefined : await installedFolder(name, dirname(base));
}

/** The main module of the package in a folder, when its keywords name it a plugin. */
async function packageAt(folder: string): Promise<FoundModules> {
  const file = join(folder, "package.json");
  const text = await textAt(file);
  if (text === undefined) return { modules: [], problems: [] };
  let manifest: unknown;
  try {
    manifest = JSON.parse(text);
  } catch (error) {
    const remedy = "correct the file, or remove its folder";
    return { modules: [], problems: [{ origin: file, cause: `is not JSON: ${reasonOf(error)}`, remedy }] };
  }
  if (typeof manifest !== "object" || manifest === null) return { modules: [], problems: [] };
  const keywords: unknown = Reflect.get(manifest, "keywords");
  const isPlugin = Array.isArray(keywords) && keywords.includes("deneb-plugin");
  return { modules: isPlugin ? [moduleOfFile(join(folder, mainOf(manifest)), folder)] : [], problems: [] };
}

async function textAt(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch {
    return undefined;
  }
}

/** `exports` as a text or its `.` or `default`, else `main`, as Node reads them for an import. */
function mainOf(manifest: object): string {
  let entry: unknown = Reflect.get(manifest, "exports");
  for (const name of [".", "import", "default"]) {
    if (typeof entry === "object" && entry !== null && Object.hasOwn(entry, name)) entry = Reflect.get(entry, name);
  }
  const main: unknown = typeof entry === "string" ? entry : Reflect.get(manifest, "main");
  return typeof main === "string" ? main : "index.js";
}
