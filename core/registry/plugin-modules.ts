import { readFile, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { glob } from "glob";
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
  if (own !== undefined) return { modules: [own], problems: [] };
  const options = { cwd: folder, absolute: true, nodir: true };
  const files = await glob("*/index.{js,mjs}", options);
  const plain = onePerFolder(files.toSorted());
  const taken = new Set(plain.map((file) => dirname(file)));
  const manifests = (await glob("*/package.json", options)).map((file) => dirname(file)).toSorted();
  const packages = await Promise.all(manifests.filter((path) => !taken.has(path)).map(packageAt));
  const modules = [...plain.map((file) => moduleOfFile(file)), ...packages.flatMap((found) => found ?? [])];
  return { modules, problems: [] };
}

/** The module of an installed package, searched for from each of the folders in turn. */
export async function moduleOfPackage(name: string, bases: readonly string[]): Promise<FoundModules> {
  if (!/^(?:@[a-z0-9~-][\w.~-]*\/)?[a-z0-9~-][\w.~-]*$/i.test(name)) {
    const remedy = "name an installed package, and give folders with --plugins";
    return { modules: [], problems: [{ origin: name, cause: "is not the name of an npm package", remedy }] };
  }
  for (const base of bases) {
    const folder = await installedIn(name, base);
    if (folder === undefined) continue;
    const specifier = packageSpecifier(name, pathToFileURL(join(base, "deneb.js")));
    return { modules: [{ origin: name, specifier, folder }], problems: [] };
  }
  const cause = `is not installed: it is in no node_modules folder, searched from ${bases.map((base) => `"${base}"`).join(" or ")}`;
  return { modules: [], problems: [{ origin: name, cause, remedy: `run npm install ${name} there` }] };
}

function moduleOfFile(file: string, folder = dirname(file)): PluginModule {
  return { origin: file, specifier: pathToFileURL(file).href, folder };
}

function onePerFolder(files: readonly string[]): readonly string[] {
  return files.filter((file, index) => files.findIndex((other) => dirname(other) === dirname(file)) === index);
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    return false;
  }
}

async function installedIn(name: string, base: string): Promise<string | undefined> {
  const folder = join(base, "node_modules", name);
  if (await isFolder(folder)) return folder;
  return dirname(base) === base ? undefined : await installedIn(name, dirname(base));
}

/** The main module of the package in a folder, when its keywords name it a plugin. */
async function packageAt(folder: string): Promise<PluginModule | undefined> {
  const manifest = await manifestOf(folder);
  const keywords: unknown = Reflect.get(manifest, "keywords");
  if (!Array.isArray(keywords) || !keywords.includes("deneb-plugin")) return undefined;
  return moduleOfFile(join(folder, mainOf(manifest)), folder);
}

async function manifestOf(folder: string): Promise<object> {
  try {
    const manifest: unknown = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
    return typeof manifest === "object" && manifest !== null ? manifest : {};
  } catch {
    return {};
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
