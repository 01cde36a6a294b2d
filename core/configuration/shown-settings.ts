import { isDeepStrictEqual } from "node:util";
import { isRecord } from "../sdk/event.js";
import type { Property, Schema } from "../sdk/index.js";
import type { PluginCatalogue } from "../tokens.js";
import { isSecretName, MASK, withoutSecrets } from "./configuration-fault.js";
import { agentNames } from "./file/agent-sections.js";
import { parseProperties } from "./file/properties.js";
import type { Setting } from "./file/settings.js";
import { migratedComponents } from "./migration/migrated-components.js";

/** A value as it may be shown. */
export type ShownValue = string | number | boolean | readonly (string | number | boolean)[];

/** One setting of a component of the running configuration, as people may see it. */
export interface ShownSetting {
  /** Its name behind that of the component; of an object or a map the whole path, as in `retry.times`. */
  readonly name: string;
  readonly value: ShownValue;
  /** The value is a secret, or may hold one. */
  readonly masked?: true;
  /** Whether the value is the default of the schema. */
  readonly default: boolean;
}

const MOST_CHARACTERS = 500;
const MOST_ENTRIES = 200;

/** The typed values of a component by the schema of its plugin, secrets masked; a secret that is empty is shown as empty. */
export function shownSettings(schema: Schema, config: Readonly<Record<string, unknown>>): readonly ShownSetting[] {
  return comparableSettings(schema, config).map(({ shown }) => shown);
}

/** A setting with its value, which must not be shown. */
export interface ComparableSetting {
  readonly shown: ShownSetting;
  readonly value: unknown;
}

/** The same with the values themselves: two secrets that differ look alike. */
export function comparableSettings(
  schema: Schema,
  config: Readonly<Record<string, unknown>>,
): readonly ComparableSetting[] {
  return Object.entries(schema).flatMap(([name, property]) => comparable(name, property, config[name]));
}

function comparable(name: string, property: Property, value: unknown): readonly ComparableSetting[] {
  if (value === undefined) return [];
  const { format, sensitive } = property;
  if (sensitive === true) return [{ shown: secret(name, property, value), value }];
  if (typeof format === "object" && "fields" in format) {
    const below = comparableSettings(format.fields, isRecord(value) ? value : {});
    return below.map(({ shown, ...one }) => ({ ...one, shown: { ...shown, name: `${name}.${shown.name}` } }));
  }
  if (format === "map") return comparableMap(name, property, isRecord(value) ? value : {});
  return [{ shown: shownSetting(name, value, isDeepStrictEqual(value, property.default)), value }];
}

function secret(name: string, property: Property, value: unknown): ShownSetting {
  const isDefault = isDeepStrictEqual(value, property.default);
  const isEmpty = value === "" || (typeof value === "object" && value !== null && Object.keys(value).length === 0);
  if (isEmpty) return { name, value: "", default: isDefault };
  return { name, value: MASK, masked: true, default: isDefault };
}

/** Each entry by itself: what its key is called may say that it is a secret. */
function comparableMap(
  name: string,
  property: Property,
  map: Readonly<Record<string, unknown>>,
): readonly ComparableSetting[] {
  const prefix = name.replace(/\.\*$/, "");
  const isDefault = isDeepStrictEqual(map, property.default);
  return Object.entries(map)
    .slice(0, MOST_ENTRIES)
    .map(([key, value]) => {
      const entry = `${prefix}.${key}`;
      const shown = isSecretName(key) ? secret(entry, property, value) : shownSetting(entry, value, isDefault);
      return { shown, value };
    });
}

function shownSetting(name: string, value: unknown, isDefault: boolean): ShownSetting {
  const texts = (Array.isArray(value) ? value : [value]).filter((one) => typeof one === "string");
  if (texts.some(holdsSecret)) return { name, value: MASK, masked: true, default: isDefault };
  const shown = Array.isArray(value) ? value.slice(0, MOST_ENTRIES).map(shownOne) : shownOne(value);
  return { name, value: shown, default: isDefault };
}

function shownOne(value: unknown): string | number | boolean {
  if (typeof value === "number" || typeof value === "boolean") return value;
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  return text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}...` : text;
}

/**
 * The properties of a file by key, masked where they may hold a secret: shown is what the schema of a plugin declares
 * not to be one, and what only names components. A password within a value is masked with its value.
 */
export function shownProperties(text: string, catalogue: PluginCatalogue): ReadonlyMap<string, string> {
  const { settings } = parseProperties(text);
  const components = agentNames(settings).flatMap((agent) => migratedComponents(settings, agent, catalogue));
  const secrecy = new Map(components.flatMap((component) => [...component.secrecy]));
  const isHarmless = (setting: Setting) =>
    secrecy.get(setting.line ?? 0) === false ? !holdsSecret(setting.value) : isStructure(setting);
  return new Map(settings.map((setting) => [setting.key, isHarmless(setting) ? setting.value : MASK]));
}

/** A URL with a user, or a parameter whose name suggests a secret. */
function holdsSecret(value: string): boolean {
  return withoutSecrets(value) !== value;
}

const STRUCTURE = /\.(?:type|channels?|sources|sinks|sinkgroups|interceptors|handler|selector|processor|serializer)$/;

/** Names of components and types, which stand below no schema. */
function isStructure({ key, value }: Setting): boolean {
  return STRUCTURE.test(key) && /^[\w.$, \t-]*$/.test(value);
}
