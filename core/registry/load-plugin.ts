import type { CataloguedPlugin } from "../tokens.js";
import { isPlugin, shapeFault, versionFault } from "./plugin-shape.js";

/** A module that is expected to export plugins. */
export interface PluginModule {
  /** Its name in messages: the path of its file, or the name of the package. */
  readonly origin: string;
  /** What `import` takes. */
  readonly specifier: string;
}

export interface Found {
  readonly plugins: readonly CataloguedPlugin[];
  readonly problems: readonly PluginProblem[];
}

/** Imports a module within the limit; anything wrong with it is returned as a problem, never thrown. */
export async function loadPlugin({ origin, specifier }: PluginModule, limitMillis: number): Promise<Found> {
  const exported = await withinLimit(exportOf(specifier), limitMillis);
  if ("problem" in exported) return { plugins: [], problems: [{ origin, ...exported.problem }] };
  const definitions: readonly unknown[] = Array.isArray(exported.value) ? exported.value : [exported.value];
  return {
    plugins: definitions.filter(isPlugin).map((definition) => ({ definition, origin })),
    problems: definitions.flatMap((definition) => problemOf(origin, definition)),
  };
}

type ProblemText = Omit<PluginProblem, "origin">;

type Exported = { readonly value: unknown } | { readonly problem: ProblemText };

async function exportOf(specifier: string): Promise<Exported> {
  try {
    const loaded: { readonly default?: unknown } = await import(specifier);
    return { value: loaded.default };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const remedy = "correct the file, install what it imports, or remove its folder";
    return { problem: { cause: `could not be loaded: ${message.split("\n", 1).join()}`, remedy } };
  }
}

/** An import cannot be cancelled; its result is ignored after the time-out. */
async function withinLimit(exported: Promise<Exported>, limitMillis: number): Promise<Exported> {
  const remedy = "avoid top-level await and I/O in its modules, or remove its folder";
  const problem = { cause: `was not loaded within ${limitMillis} ms`, remedy };
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Exported>((resolve) => {
    timer = setTimeout(() => resolve({ problem }), limitMillis);
  });
  try {
    return await Promise.race([exported, late]);
  } finally {
    clearTimeout(timer);
  }
}

function problemOf(origin: string, definition: unknown): readonly PluginProblem[] {
  const version = versionFault(definition);
  if (version !== undefined) {
    const remedy = "install a version of the plugin that was built for this agent, or another version of the agent";
    return [{ origin, cause: version, remedy }];
  }
  const cause = shapeFault(definition);
  const remedy = "export the result of definePlugin of deneb/sdk as default, or a list of such results";
  return cause === undefined ? [] : [{ origin, cause, remedy }];
}

/** A plugin that was found but cannot be used; the agent runs without it. */
export interface PluginProblem {
  /** The file or folder it is about. */
  readonly origin: string;
  readonly cause: string;
  /** What to do about it. */
  readonly remedy: string;
}
