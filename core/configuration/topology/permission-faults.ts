import path from "node:path";
import type { AnyPlugin, Property, Schema } from "../../sdk/index.js";
import { permittedProperty } from "../../sdk/permissions.js";
import { type ConfigurationFault, errorAt } from "../configuration-fault.js";
import type { ComponentBlock } from "../file/settings.js";
import type { SettingsReading } from "../schema/component-settings.js";

/** A fault for each configured host or folder that the permissions of the plugin do not have. */
export function permissionFaults(
  { permissions, config, kind, type }: AnyPlugin,
  { key, line }: ComponentBlock,
  { values, locations }: SettingsReading<Schema>,
): readonly ConfigurationFault[] {
  if (permissions === undefined) return [];
  return Object.entries(config).flatMap(([name, { resource, sensitive }]) => {
    const rule = ruleOf(resource);
    if (rule === undefined) return [];
    const entries = permissions[rule.list];
    if (entries.some((entry) => permittedProperty(entry) === name)) return [];
    const fixed = entries.filter((entry) => permittedProperty(entry) === undefined);
    const strange = rule.usedBy(values.get(name)).find((one) => !fixed.some((entry) => rule.covers(entry, one)));
    if (strange === undefined) return [];
    const declared = fixed.length === 0 ? `no ${rule.list}` : `the ${rule.list} ${fixed.join(", ")}`;
    const what = sensitive === true ? "" : ` "${strange}"`;
    const reason = `leads to the ${rule.noun}${what}; the plugin ${kind} "${type}" declares that it uses ${declared}`;
    return [errorAt(locations.get(name) ?? { key: `${key}.${name}`, line }, `${reason}: correct the value`)];
  });
}

interface Rule {
  readonly list: "hosts" | "folders";
  readonly noun: string;
  /** The hosts or folders that a value means. */
  usedBy(value: unknown): readonly string[];
  covers(entry: string, used: string): boolean;
}

function ruleOf(resource: Property["resource"]): Rule | undefined {
  if (resource === "url") return hostRule;
  return resource === "folder" ? folderRule : undefined;
}

const hostRule: Rule = {
  list: "hosts",
  noun: "host",
  usedBy: (value) => textsOf(value).flatMap((text) => (URL.canParse(text) ? [new URL(text).hostname] : [text])),
  covers: (entry, host) => {
    const [wanted, used] = [entry.toLowerCase(), host.toLowerCase()];
    if (wanted === "*") return true;
    return wanted.startsWith("*.") ? used.endsWith(wanted.slice(1)) : used === wanted;
  },
};

const folderRule: Rule = {
  list: "folders",
  noun: "folder",
  usedBy: (value) => textsOf(value).map((text) => path.resolve(text)),
  covers: (entry, folder) => {
    const way = path.relative(entry, folder);
    return way === "" || (way !== ".." && !way.startsWith(`..${path.sep}`) && !path.isAbsolute(way));
  },
};

/** The texts of a value; none of an empty one, which stands for nothing. */
function textsOf(value: unknown): readonly string[] {
  const listed: readonly unknown[] = Array.isArray(value) ? value : [value];
  return listed.filter((text) => typeof text === "string").filter((text) => text !== "");
}
