import { type ConfigurationFault, errorAt, nearest, shownValue } from "../configuration-fault.js";
import { type Section, type Setting, type Settings, sectionOf, settingsBelow } from "./settings.js";

const sectionNames = ["sources", "channels", "sinks", "sinkgroups"] as const;
export type SectionName = (typeof sectionNames)[number];

/** Names of the agents that have a source, channel or sink in the file. */
export function agentNames(settings: readonly Setting[]): readonly string[] {
  return [
    ...new Set(
      settings
        .map(({ key }) => key.split("."))
        .filter(namesAgent)
        .map(([agent = ""]) => agent),
    ),
  ];
}

/** One section of an agent. */
export function agentSection(settings: readonly Setting[], agent: string, name: SectionName): Section {
  const all: Settings = new Map(settings.map((setting) => [setting.key, setting]));
  const key = `${agent}.${name}`;
  return sectionOf(key, all.get(key), settingsBelow(all, key));
}

/** Faults of the keys themselves; of other agents, malformed keys only. */
export function keyFaults(
  settings: readonly Setting[],
  agents: readonly string[],
  chosen?: string,
): readonly ConfigurationFault[] {
  const malformed = settings.filter(({ key }) => hasTooFewParts(key)).map(tooFewParts);
  const others = agents.filter((agent) => agent !== chosen);
  const strange = settings
    .map((setting) => ({ setting, parts: setting.key.split(".") }))
    .filter(({ setting, parts: [agent = ""] }) => !hasTooFewParts(setting.key) && !others.includes(agent))
    .filter(({ parts: [, section = ""] }) => !isSection(section));
  const bySection = new Map(strange.toReversed().map(({ setting, parts }) => [parts.slice(0, 2).join("."), setting]));
  return [...malformed, ...[...bySection.values()].map(unknownSection)];
}

function isSection(name: string): name is SectionName {
  return sectionNames.some((section) => section === name);
}

function namesAgent([agent, section]: readonly string[]): boolean {
  return agent !== undefined && agent !== "" && section !== undefined && isSection(section);
}

function hasTooFewParts(key: string): boolean {
  const [, section, ...rest] = key.split(".");
  return section === undefined || rest.length === 1 || key.split(".").includes("");
}

function tooFewParts({ key, value, line }: Setting): ConfigurationFault {
  const remedy = "write <agent>.<sources, channels or sinks>.<name>.<property>";
  return errorAt({ key, value: shownValue(key, value), line }, `has too few parts; ${remedy}`);
}

const laterSections: ReadonlyMap<string, string> = new Map([
  ["configfilters", `configuration filters are not supported by this version; use \${env:NAME}`],
]);

function unknownSection({ key, line }: Setting): ConfigurationFault {
  const [, section = ""] = key.split(".");
  const later = laterSections.get(section);
  if (later !== undefined) return errorAt({ key, line }, later);
  const reason = `has the unknown section "${section}"; the sections are ${sectionNames.join(", ")}`;
  return errorAt({ key, line, nearest: nearest(section, sectionNames) }, reason);
}
