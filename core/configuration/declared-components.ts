import type { Fault } from "./fault.js";
import { errorAt, startable, warningAt } from "./fault-at.js";
import { words } from "./formats.js";
import { nearest } from "./nearest.js";
import { fromSetting } from "./property-text.js";
import { firstLine, type Section } from "./section.js";
import type { Settings } from "./setting.js";
import type { ComponentBlock, Environment } from "./surroundings.js";

export interface DeclaredComponents {
  /** All names of the list, also those without settings, so that a link to one is not a second fault. */
  readonly names: readonly string[];
  /** Those that can be read. */
  readonly blocks: readonly ComponentBlock[];
  readonly faults: readonly Fault[];
}

/** Matches the names that a section lists with the lines below them. */
export function declaredComponents(section: Section, env: Environment): DeclaredComponents {
  const { state, faults } = fromSetting({ default: "" }, section.list, env);
  if (state === "unreadable") return { names: [], blocks: [], faults };
  const listed = state === "absent" ? [] : words(state.content);
  const names = [...new Set(listed)];
  const undeclared = [...section.components].filter(([name]) => !names.includes(name));
  const bare = names.filter((name) => !section.components.has(name));
  return {
    names,
    blocks: names.flatMap((name) => blockOf(section, name)),
    faults: [
      ...names
        .filter((name) => listed.indexOf(name) !== listed.lastIndexOf(name))
        .map((name) => repeated(section, name)),
      ...bare.map((name) => withoutSettings(section, name)),
      ...undeclared.map(([name, settings]) => notListed(section, { name, settings, names })),
    ],
  };
}

/** The fault of a section that names nothing; none where its list could not be read. */
export function emptyListFaults(
  { key, list, components }: Section,
  { names, faults }: DeclaredComponents,
): readonly Fault[] {
  if (names.length > 0 || !startable(faults)) return [];
  const example = components.size === 0 ? "" : `, for example ${key} = ${[...components.keys()].join(" ")}`;
  return [errorAt({ key, line: list?.line }, `must list the names of at least one component${example}`)];
}

function blockOf({ key, components }: Section, name: string): readonly ComponentBlock[] {
  const settings = components.get(name);
  return settings === undefined ? [] : [{ name, key: `${key}.${name}`, line: firstLine(settings), settings }];
}

function repeated({ key, list }: Section, name: string): Fault {
  return errorAt({ key, value: name, line: list?.line }, "is listed twice; name each component once");
}

function withoutSettings({ key, list, components }: Section, name: string): Fault {
  const place = { key, value: name, line: list?.line, nearest: nearest(name, [...components.keys()]) };
  if (name.includes(".")) return errorAt(place, "is not a name: names of components hold no dots");
  return errorAt(place, `is listed but has no settings; give ${key}.${name}.type and what it needs`);
}

interface NotListed {
  readonly name: string;
  readonly settings: Settings;
  readonly names: readonly string[];
}

function notListed({ key }: Section, { name, settings, names }: NotListed): Fault {
  const place = { key: `${key}.${name}`, line: firstLine(settings), nearest: nearest(name, names) };
  return warningAt(place, `is not listed in ${key}, so its settings have no effect`);
}
