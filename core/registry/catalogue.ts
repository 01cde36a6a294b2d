import type { Kind } from "../sdk/index.js";
import type { CataloguedPlugin, PluginCatalogue } from "../tokens.js";
import type { PluginProblem } from "./plugin-problem.js";

/** Catalogues plugins under their types and aliases; of two that claim one name the first has it. */
export function catalogueOf(plugins: readonly CataloguedPlugin[]): {
  readonly catalogue: PluginCatalogue;
  readonly problems: readonly PluginProblem[];
} {
  const owners = new Map<string, CataloguedPlugin>();
  const kept: CataloguedPlugin[] = [];
  const problems: PluginProblem[] = [];
  for (const plugin of plugins) {
    const { kind, type, aliases = [] } = plugin.definition;
    const taken = takenNames(plugin, owners);
    // A plugin whose type is taken could be reached by aliases only, and would not be what the file says.
    const left = taken.includes(type);
    problems.push(...(left ? [type] : taken).map((name) => duplicate(plugin, name, owners)));
    if (left) continue;
    kept.push(plugin);
    for (const name of [type, ...aliases].filter((candidate) => !taken.includes(candidate))) {
      owners.set(nameKey(kind, name), plugin);
    }
  }
  const sorted = kept.toSorted((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1));
  return {
    catalogue: { find: (kind, type) => owners.get(nameKey(kind, type))?.definition, list: () => sorted },
    problems,
  };
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
    remedy: "remove one of the two, or give one another name",
  };
}

function nameKey(kind: Kind, name: string): string {
  return `${kind}/${name.toLowerCase()}`;
}

function sortKey({ definition: { kind, type } }: CataloguedPlugin): string {
  return nameKey(kind, type);
}
