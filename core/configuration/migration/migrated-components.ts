import type { AnyPlugin, Kind, Schema, Spelling } from "../../sdk/index.js";
import type { PluginCatalogue } from "../../tokens.js";
import { agentSection } from "../file/agent-sections.js";
import {
  type ComponentBlock,
  firstLine,
  type Section,
  type Setting,
  sectionOf,
  settingsBelow,
  settingsWithout,
} from "../file/settings.js";
import { acceptedName, pluginNamed } from "../predecessor/class-names.js";
import { sinkSettings } from "../schema/component-properties.js";
import { mapPrefix } from "../schema/given-values.js";
import { respelled } from "../schema/respelling.js";
import { unknownSettings } from "../schema/unknown-settings.js";
import type { LineEdit } from "./line-edits.js";

/** A component of an old file and what becomes of its lines. */
export interface MigratedComponent {
  readonly definition: AnyPlugin;
  readonly key: string;
  /** The spelling by which the file names it; undefined for the new one. */
  readonly spelling: Spelling | undefined;
  /** By the number of the line. */
  readonly edits: readonly (readonly [line: number, edit: LineEdit])[];
  /** By the number of the line whether its property is a secret; of lines that are no known property nothing. */
  readonly secrecy: readonly (readonly [line: number, isSecret: boolean])[];
}

/** The components of an agent with those nested in them, as far as their plugins are known. */
export function migratedComponents(
  settings: readonly Setting[],
  agent: string,
  catalogue: PluginCatalogue,
): readonly MigratedComponent[] {
  const inSection = (name: "sources" | "channels" | "sinks", kind: Kind) =>
    written(agentSection(settings, agent, name), kind);
  const top = [...inSection("sources", "source"), ...inSection("channels", "channel"), ...inSection("sinks", "sink")];
  return top.flatMap((component) => migrated(component, catalogue));
}

/** A component as the file writes it, with the line that names its type. */
interface Written {
  readonly kind: Kind;
  readonly block: ComponentBlock;
  readonly type: Setting | undefined;
}

function written({ key, components }: Section, kind: Kind): readonly Written[] {
  return [...components].map(([name, settings]) => ({
    kind,
    block: { name, key: `${key}.${name}`, line: firstLine(settings), settings },
    type: settings.get("type"),
  }));
}

function migrated({ kind, block, type }: Written, catalogue: PluginCatalogue): readonly MigratedComponent[] {
  const definition = type === undefined ? undefined : pluginNamed(kind, type.value, catalogue);
  if (type === undefined || definition === undefined) return [];
  const typeName = acceptedName(kind, type.value, catalogue);
  const nested = [...nestedOf(definition, block), ...partsOfSource(kind, block)];
  const schema: Schema = { ...definition.config, ...(kind === "sink" ? sinkSettings : {}) };
  const own = {
    ...block,
    settings: settingsWithout(block.settings, [...kernelNames, ...slots(definition)], prefixes(definition)),
  };
  const spelt = respelled({ definition, typeName, schema, block: own }, emptyEnvironment);
  const spelling = definition.spellings?.find(({ types }) =>
    types.some((old) => old.toLowerCase() === typeName.toLowerCase()),
  );
  const known = { ...spelt.block, settings: settingsWithout(spelt.block.settings, Object.keys(schema), []) };
  const unknown = unknownSettings({ definition, block: known, kernelNames: Object.keys(schema) }, catalogue);
  const idle = [...unknown, ...spelt.faults.filter(({ unread }) => unread !== undefined)];
  const dropped = idle.flatMap(({ key, line, reason }) =>
    line === undefined ? [] : [[line, { dropped: whyDropped(lastPart(block, key), reason, spelling) }] as const],
  );
  const edits = [
    ...typeEdits({ type, definition, block, spelt: spelt.block }),
    ...changes(spelt.block, block),
    ...dropped,
  ];
  const secrecy = secrecyOf(schema, [...block.settings, ...spelt.block.settings]);
  return [
    { definition, key: block.key, spelling, edits, secrecy },
    ...nested.flatMap((one) => migrated(one, catalogue)),
  ];
}

function secrecyOf(
  schema: Schema,
  settings: readonly (readonly [name: string, setting: Setting])[],
): MigratedComponent["secrecy"] {
  const maps = Object.keys(schema).filter((name) => schema[name]?.format === "map");
  return settings.flatMap(([name, { line }]) => {
    const map = maps.find((one) => name.startsWith(`${mapPrefix(one)}.`));
    const property = schema[name] ?? (map === undefined ? undefined : schema[map]);
    return property === undefined || line === undefined ? [] : [[line, property.sensitive === true] as const];
  });
}

function whyDropped(name: string, reason: string, spelling: Spelling | undefined): string {
  const instead = spelling?.without?.[name];
  return instead === undefined ? `"${name}" ${reason}` : `"${name}" is not supported: ${instead}`;
}

const emptyEnvironment = { env: {}, readFile: (): string => "", leaveOut: true };
const kernelNames = ["type", "channel", "channels", "interceptors"] as const;

function slots({ slots: declared = {} }: AnyPlugin): readonly string[] {
  return Object.keys(declared);
}

/** What is below these names belongs to nested components, or is one property with many lines. */
function prefixes({ kind, config, slots: declared = {} }: AnyPlugin): readonly string[] {
  const maps = Object.keys(config).filter((name) => config[name]?.format === "map");
  return [...Object.keys(declared), ...maps, ...(kind === "source" ? ["interceptors", "selector"] : [])];
}

function nestedOf({ slots: declared = {} }: AnyPlugin, { key, settings }: ComponentBlock): readonly Written[] {
  return Object.entries(declared).map(([slot, kind]) => {
    const below = settingsBelow(settings, slot);
    const block = { name: slot, key: `${key}.${slot}`, line: settings.get(slot)?.line, settings: below };
    return { kind, block, type: settings.get(slot) };
  });
}

function partsOfSource(kind: Kind, { key, settings }: ComponentBlock): readonly Written[] {
  if (kind !== "source") return [];
  const below = settingsBelow(settings, "interceptors");
  const chosen = settingsBelow(settings, "selector");
  const selector = { name: "selector", key: `${key}.selector`, line: firstLine(chosen), settings: chosen };
  return [
    ...written(sectionOf(`${key}.interceptors`, undefined, below), "interceptor"),
    { kind: "selector", block: selector, type: chosen.get("type") },
  ];
}

interface TypeLine {
  readonly type: Setting;
  readonly definition: AnyPlugin;
  readonly block: ComponentBlock;
  readonly spelt: ComponentBlock;
}

function typeEdits({ type, definition, block, spelt }: TypeLine): MigratedComponent["edits"] {
  if (type.line === undefined || type.value.toLowerCase() === definition.type) return [];
  const written = new Set([...block.settings.values()].map(({ key }) => key));
  const added = [...spelt.settings]
    .filter(
      ([name, setting]) => !written.has(setting.key) && setting.value !== String(definition.config[name]?.default),
    )
    .map(([name, { value }]) => ({ key: `${block.key}.${name}`, value }));
  return [[type.line, { value: definition.type, added }]];
}

/** The new names of properties, and the values that count differently. An expression stays one. */
function changes(spelt: ComponentBlock, written: ComponentBlock): MigratedComponent["edits"] {
  return [...spelt.settings].flatMap(([name, { key, value, line }]) => {
    const from = lastPart(spelt, key);
    const before = written.settings.get(from)?.value;
    if (before === undefined || line === undefined) return [];
    const rename = from === name ? {} : { rename: { from, to: name } };
    const edit = before === value || before.includes("${") ? rename : { ...rename, value };
    return Object.keys(edit).length === 0 ? [] : [[line, edit] as const];
  });
}

function lastPart({ key }: ComponentBlock, full: string): string {
  return full.slice(key.length + 1);
}
