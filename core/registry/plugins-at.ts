import { access } from "node:fs/promises";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { type Found, loadPlugin } from "./load-plugin.js";
import { offerContract } from "./plugin-imports.js";
import { type FoundModules, modulesInFolder } from "./plugin-modules.js";

/** What one folder holds when it is a plugin by itself: `index.js` in it, or a package; else the plugins below it. */
export async function pluginsAt(folder: string, limitMillis: number): Promise<Found> {
  offerContract();
  const { modules, problems } = await modulesAt(resolve(folder));
  const loaded = await Promise.all(modules.map((module) => loadPlugin(module, limitMillis)));
  return {
    plugins: loaded.flatMap(({ plugins }) => plugins),
    problems: [...problems, ...loaded.flatMap((one) => one.problems)],
  };
}

async function modulesAt(folder: string): Promise<FoundModules> {
  for (const name of ["index.js", "index.mjs"]) {
    const file = join(folder, name);
    if (await exists(file)) return { modules: [{ origin: file, specifier: pathToFileURL(file).href }], problems: [] };
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
