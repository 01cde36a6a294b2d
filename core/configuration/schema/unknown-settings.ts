import type { AnyPlugin, Schema, Slots, Spelling } from "../../sdk/index.js";
import type { PluginCatalogue } from "../../tokens.js";
import {
  type ConfigurationFault,
  type Environment,
  MASK,
  nearest,
  shownValue,
  unreadAt,
  warningAt,
} from "../configuration-fault.js";
import { type ComponentBlock, settingsWithout } from "../file/settings.js";
import { sinkSettings } from "./component-properties.js";
import { mapPrefix } from "./given-values.js";
import { kernelProperties, pluginFoldersProperty, pluginPackagesProperty } from "./kernel-properties.js";

interface KnownNames {
  readonly definition: AnyPlugin;
  readonly block: ComponentBlock;
  /** Names that the kernel reads, to suggest them for a misspelt key. */
  readonly kernelNames: readonly string[];
}

/** A warning for each line of a component that is not read. */
export function unknownSettings(
  { definition, block, kernelNames }: KnownNames,
  catalogue: PluginCatalogue,
): readonly ConfigurationFault[] {
  const { config, slots = {}, kind, type, spellings = [] } = definition;
  const maps = Object.keys(config)
    .filter((name) => config[name]?.format === "map")
    .map(mapPrefix);
  const unread = [...settingsWithout(block.settings, Object.keys(config), maps)];
  if (unread.length === 0) return [];
  const known = [...Object.keys(config), ...kernelNames, ...slotNames(slots, catalogue)];
  const old = oldNames(config, spellings);
  const secrets = secretMaps(catalogue);
  const instead = new Map(spellings.flatMap(({ without = {} }) => Object.entries(without)));
  return unread.map(([name, { key, value, line }]) => {
    const meant = nearest(name, known) ?? old.get(nearest(name, [...old.keys()]) ?? "");
    const [first = "", ...below] = name.split(".");
    const own = meant === undefined ? undefined : config[meant];
    // A misspelt property of this component, where maps of others are called alike.
    const isPlain = own !== undefined && below.length === 0;
    const secret = own?.sensitive === true || (!isPlain && nearest(first, secrets) !== undefined);
    const location = { key, value: secret ? MASK : shownValue(name, value), line };
    const reason = `is not a property of the ${kind} "${type}" and has no effect`;
    const remedy = instead.get(name);
    return remedy === undefined
      ? unreadAt({ ...location, nearest: meant }, reason, "here-only")
      : unreadAt(location, `${reason}; ${remedy}`, "here-only");
  });
}

/** The new names of properties by their old ones. */
function oldNames(config: Schema, spellings: readonly Spelling[]): ReadonlyMap<string, string> {
  const prefixes = spellings.flatMap(({ prefixes = {} }) => Object.entries(prefixes));
  const names = prefixes.flatMap(([old, now]) =>
    Object.keys(config)
      .filter((name) => name.startsWith(now))
      .map((name) => [old + name.slice(now.length), name] as const),
  );
  return new Map(names);
}

/** The maps of secrets of all plugins: an entry may stand below a component of another type, or its map be misspelt. */
function secretMaps(catalogue: PluginCatalogue): readonly string[] {
  return catalogue.list().flatMap(({ definition: { config } }) =>
    Object.keys(config)
      .filter((name) => config[name]?.format === "map" && config[name]?.sensitive === true)
      .map(mapPrefix),
  );
}

/** The slots and, below each, the properties of every plugin that could fill it. */
function slotNames(slots: Slots, catalogue: PluginCatalogue): readonly string[] {
  return Object.entries(slots).flatMap(([slot, kind]) => [
    slot,
    ...catalogue
      .list()
      .filter(({ definition }) => definition.kind === kind)
      .flatMap(({ definition }) => Object.keys(definition.config).map((name) => `${slot}.${name}`)),
  ]);
}

const OWN = /^DENEB_(?!TEST_|BENCH_)/;
/** Other programs use this prefix too: a variable is reported only when a known name is near. */
const SHARED = /^AGENT_/;

/** A warning for each environment variable that looks like one of the agent and is not read. */
export function variableFaults(text: string, { env, catalogue }: Environment): readonly ConfigurationFault[] {
  const ofKernel = [
    ...variablesOf(kernelProperties),
    ...variablesOf(sinkSettings),
    pluginFoldersProperty.env,
    pluginPackagesProperty.env,
  ];
  const others = Object.keys(env).filter(
    (name) =>
      (OWN.test(name) || SHARED.test(name)) &&
      (env[name] ?? "") !== "" &&
      !ofKernel.includes(name) &&
      !text.includes(`\${env:${name}`),
  );
  if (others.length === 0) return [];
  const ofPlugins = catalogue
    .list()
    .flatMap(({ definition }) => [...variablesOf(definition.config), ...oldVariablesOf(definition)]);
  const known = [...ofKernel, ...ofPlugins];
  return others
    .filter((name) => !ofPlugins.includes(name))
    .toSorted()
    .flatMap((key) => {
      const property = propertyOf(key, catalogue);
      if (property?.env !== undefined) {
        return [warningAt({ key, nearest: property.env }, "is an environment variable that nothing reads")];
      }
      if (property !== undefined) {
        const remedy = `write ${property.name} = \${env:${key}} in the file, as the file of the container image does`;
        return [warningAt({ key }, `is an environment variable that nothing reads; ${remedy}`)];
      }
      const meant = nearest(key, known);
      if (meant === undefined && SHARED.test(key)) return [];
      return [warningAt({ key, nearest: meant }, "is an environment variable that nothing reads")];
    });
}

/** The property of sinks that a variable like those of the container image is named after, and its own variable. */
function propertyOf(variable: string, catalogue: PluginCatalogue) {
  const named = /^AGENT_RDB_(.+)$/.exec(variable)?.[1]?.toLowerCase();
  if (named === undefined) return undefined;
  const schemas: readonly Schema[] = [
    sinkSettings,
    ...catalogue.list().flatMap(({ definition: { kind, config } }) => (kind === "sink" ? [config] : [])),
  ];
  const found = [`rdb_${named}`, named].flatMap((name) =>
    schemas.flatMap((schema) => (Object.hasOwn(schema, name) ? [{ name, env: schema[name]?.env }] : [])),
  );
  return found[0];
}

function variablesOf(schema: Schema): readonly string[] {
  return Object.values(schema).flatMap(({ env, envFile }) => [env, envFile].filter((name) => name !== undefined));
}

function oldVariablesOf({ spellings = [] }: AnyPlugin): readonly string[] {
  return spellings.flatMap(({ variables = {}, fileVariables = {} }) => [
    ...Object.keys(variables),
    ...Object.keys(fileVariables),
  ]);
}
