import { stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { glob } from "glob";
import type { CataloguedPlugin, PluginCatalogue } from "../tokens.js";
import { catalogueOf } from "./catalogue.js";
import type { PluginProblem } from "./plugin-problem.js";
import { isPlugin, shapeFault } from "./plugin-shape.js";

export interface Discovery {
  readonly catalogue: PluginCatalogue;
  readonly problems: readonly PluginProblem[];
}

/** Finds the plugins in the given folders, each a folder of its own with an index.js. What cannot be used is a problem. */
export async function discover(folders: readonly string[]): Promise<Discovery> {
  const absolute = [...new Set(folders.map((folder) => resolve(folder)))];
  const found = await Promise.all(absolute.map(pluginsIn));
  const { catalogue, problems } = catalogueOf(found.flatMap(({ plugins }) => plugins));
  return { catalogue, problems: [...found.flatMap((folder) => folder.problems), ...problems] };
}

interface Found {
  readonly plugins: readonly CataloguedPlugin[];
  readonly problems: readonly PluginProblem[];
}

async function pluginsIn(folder: string): Promise<Found> {
  if (!(await isFolder(folder))) {
    const remedy = "make the folder, or correct its name on the command line or in the environment";
    return { plugins: [], problems: [{ origin: folder, cause: "is not a folder", remedy }] };
  }
  const files = await glob("*/index.{js,mjs}", { cwd: folder, absolute: true, nodir: true });
  const loaded = await Promise.all(onePerFolder(files.toSorted()).map(pluginsOf));
  return {
    plugins: loaded.flatMap(({ plugins }) => plugins),
    problems: loaded.flatMap(({ problems }) => problems),
  };
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    return false;
  }
}

function onePerFolder(files: readonly string[]): readonly string[] {
  return files.filter((file, index) => files.findIndex((other) => dirname(other) === dirname(file)) === index);
}

async function pluginsOf(origin: string): Promise<Found> {
  const exported = await exportOf(origin);
  if ("problem" in exported) return { plugins: [], problems: [exported.problem] };
  const definitions: readonly unknown[] = Array.isArray(exported.value) ? exported.value : [exported.value];
  const problems = definitions.flatMap((definition) => shapeProblem(origin, definition));
  return { plugins: definitions.filter(isPlugin).map((definition) => ({ definition, origin })), problems };
}

async function exportOf(origin: string): Promise<{ readonly value: unknown } | { readonly problem: PluginProblem }> {
  try {
    const loaded: { readonly default?: unknown } = await import(pathToFileURL(origin).href);
    return { value: loaded.default };
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    const remedy = "correct the file, install what it imports, or remove its folder";
    return { problem: { origin, cause: `could not be loaded: ${message}`, remedy } };
  }
}

function shapeProblem(origin: string, definition: unknown): readonly PluginProblem[] {
  const cause = shapeFault(definition);
  const remedy = "export what definePlugin of deneb/sdk returns as default, or a list of such";
  return cause === undefined ? [] : [{ origin, cause, remedy }];
}
