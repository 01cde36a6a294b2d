import type { PluginCatalogue } from "../tokens.js";
import { MASK, withoutSecrets } from "./configuration-fault.js";
import { agentNames } from "./file/agent-sections.js";
import { parseProperties } from "./file/properties.js";
import type { Setting } from "./file/settings.js";
import { migratedComponents } from "./migration/migrated-components.js";

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
export function holdsSecret(value: string): boolean {
  return withoutSecrets(value) !== value;
}

const STRUCTURE = /\.(?:type|channels?|sources|sinks|sinkgroups|interceptors|handler|selector|processor|serializer)$/;

/** Names of components and types, which stand below no schema. */
function isStructure({ key, value }: Setting): boolean {
  return STRUCTURE.test(key) && /^[\w.$, \t-]*$/.test(value);
}
