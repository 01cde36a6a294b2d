import { type Location, nearest, unreadAt, warningAt } from "../configuration-fault.js";
import { agentSection, type SectionName } from "../file/agent-sections.js";
import { type ComponentBlock, firstLine, sectionOf, settingsBelow } from "../file/settings.js";
import { absentType } from "./absent-types.js";
import { pluginNamed } from "./class-names.js";
import {
  type Environments,
  listedBlocks,
  type OldAgent,
  withFaults,
  withoutComponents,
  withWords,
  wordsOf,
} from "./old-agent.js";

const typed = [
  ["sources", "source"],
  ["channels", "channel"],
  ["sinks", "sink"],
] as const;

/** Lists name each component once. */
export function listedOnce(agent: OldAgent, environment: Environments): OldAgent {
  return eachSection(agent, (before, section) => {
    const { list } = agentSection(before.settings, before.name, section);
    const names = wordsOf(list, environment);
    if (list === undefined || names === undefined) return before;
    const once = [...new Set(names)];
    const repeated = once.filter((name) => names.indexOf(name) !== names.lastIndexOf(name));
    if (repeated.length === 0) return before;
    const { key, line } = list;
    const faults = repeated.map((value) => warningAt({ key, value, line }, "is listed twice; it counts once"));
    return withFaults(withWords(before, list, once), faults);
  });
}

/** Lists name components that have settings. */
export function listedWithSettings(agent: OldAgent, environment: Environments): OldAgent {
  return eachSection(agent, (before, section) => {
    const { key, list, components } = agentSection(before.settings, before.name, section);
    const bare = (wordsOf(list, environment) ?? []).filter((name) => !components.has(name));
    const unnamed = [...components.keys()].filter((name) => !wordsOf(list, environment)?.includes(name));
    const leaving = bare.map((name) => ({
      name,
      location: { key, value: name, line: list?.line, nearest: nearest(name, unnamed) },
      reason: "is listed and has no settings",
      isLoss: false,
    }));
    return without(before, section, leaving, environment);
  });
}

/** Components have a type. */
export function listedWithType(agent: OldAgent, environment: Environments): OldAgent {
  return typed.reduce((before, [section]) => {
    const leaving = listedBlocks(before, section, environment)
      .filter(({ settings }) => !settings.has("type"))
      .map((block) => ({ ...leavingAt(block), reason: "has no type", isLoss: false }));
    return without(before, section, leaving, environment);
  }, agent);
}

/** Components are of types that a plugin accepts; for migrations only. */
export function listedWithPlugin(agent: OldAgent, environment: Environments): OldAgent {
  if (environment.leaveOut !== true) return agent;
  return typed.reduce((before, [section, kind]) => {
    const leaving = listedBlocks(before, section, environment).flatMap((block) => {
      const type = block.settings.get("type");
      const [name = ""] = wordsOf(type, environment) ?? [];
      const absent = pluginNamed(kind, name, environment.catalogue) === undefined ? absentType(kind, name) : undefined;
      if (type === undefined || absent === undefined) return [];
      const location = { key: type.key, value: name, line: type.line };
      return [{ name: block.name, location, reason: absent.reason, isLoss: true }];
    });
    return without(before, section, leaving, environment);
  }, agent);
}

/** Sources have no interceptors that change nothing here. */
export function interceptorsWithEffect(agent: OldAgent, environment: Environments): OldAgent {
  return listedBlocks(agent, "sources", environment).reduce((before, source) => {
    const list = source.settings.get("interceptors");
    const below = settingsBelow(source.settings, "interceptors");
    const { key, components } = sectionOf(`${source.key}.interceptors`, list, below);
    const idle = [...components].flatMap(([name, settings]) => {
      const type = settings.get("type");
      const absent = type === undefined ? undefined : absentType("interceptor", type.value);
      return type === undefined || absent?.withoutEffect !== true ? [] : [{ name, type, reason: absent.reason }];
    });
    if (list === undefined || idle.length === 0) return before;
    const kept = (wordsOf(list, environment) ?? []).filter((word) => idle.every(({ name }) => name !== word));
    const removed = idle.map(({ name, reason }) => ({ key: `${key}.${name}`, reason, isLoss: true }));
    const faults = idle.map(({ type, reason }) => unreadAt(type, reason, "here-only"));
    return withFaults(withoutComponents(withWords(before, list, kept), removed), faults);
  }, agent);
}

/** A component that is left out. */
export interface Leaving {
  readonly name: string;
  readonly location: Location;
  readonly reason: string;
  readonly isLoss: boolean;
}

/** The agent without components of a section, with a warning for each. */
export function without(
  agent: OldAgent,
  section: SectionName,
  leaving: readonly Leaving[],
  environment: Environments,
): OldAgent {
  const { key, list } = agentSection(agent.settings, agent.name, section);
  if (list === undefined || leaving.length === 0) return agent;
  const kept = (wordsOf(list, environment) ?? []).filter((word) => leaving.every(({ name }) => name !== word));
  const removed = leaving.map(({ name, reason, isLoss }) => ({ key: `${key}.${name}`, reason, isLoss }));
  const faults = leaving.map(({ location, reason, isLoss }) =>
    isLoss ? unreadAt(location, reason, "here-only") : warningAt(location, `${reason}; it is left out`),
  );
  return withFaults(withoutComponents(withWords(agent, list, kept), removed), faults);
}

export function leavingAt({ name, key, settings }: ComponentBlock): Pick<Leaving, "name" | "location"> {
  return { name, location: { key, line: firstLine(settings) } };
}

function eachSection(agent: OldAgent, step: (agent: OldAgent, section: SectionName) => OldAgent): OldAgent {
  const names = ["sources", "channels", "sinks", "sinkgroups"] as const satisfies readonly SectionName[];
  return names.reduce(step, agent);
}
