import { type ConfigurationFault, errorAt, nearest, shownValue, unreadAt } from "../configuration-fault.js";
import { ofInstanceFile } from "./instance-settings.js";
import { holdsExpression } from "./properties.js";
import { type Section, type Setting, type Settings, sectionOf, settingsBelow } from "./settings.js";

const sectionNames = ["sources", "channels", "sinks", "sinkgroups"] as const;
export type SectionName = (typeof sectionNames)[number];

/** Properties of the agent itself: `<agent>.<name>`. */
const ownNames = ["workers"] as const;
type OwnName = (typeof ownNames)[number];

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

/** The line of a property of the agent itself. */
export function agentSetting(settings: readonly Setting[], agent: string, name: OwnName): Setting | undefined {
  return settings.find(({ key }) => key === `${agent}.${name}`);
}

interface KeysOf {
  /** Names of all agents of the file. */
  readonly agents: readonly string[];
  readonly chosen: string | undefined;
  /** True where keys that are none have no effect and are no errors, as in files of a predecessor. */
  readonly isLenient: boolean;
}

/** Faults of the keys themselves; of other agents, malformed keys only. */
export function keyFaults(
  settings: readonly Setting[],
  { agents, chosen, isLenient }: KeysOf,
): readonly ConfigurationFault[] {
  const expressions = new Map(settings.filter(({ key }) => holdsExpression(key)).map(partWithExpression));
  const withExpression = [...expressions.values()];
  const plain = settings.filter(({ key }) => !holdsExpression(key));
  const malformed = plain.filter(({ key }) => hasTooFewParts(key));
  const strange = strangeSections(plain, agents, chosen);
  const strict = [...withExpression, ...malformed.map(tooFewParts), ...strange.map(unknownSection)];
  if (!isLenient) return strict;
  const gaps = malformed.filter(({ key }) => GAP.test(key)).map(tooFewParts);
  const idle = malformed.filter(({ key }) => !GAP.test(key)).map(tooFewParts);
  const idleSections = strange.map((setting) => ({ ...unknownSection(setting), key: sectionKey(setting) }));
  const lenient = [...withExpression, ...idle, ...idleSections].map((fault) =>
    unreadAt(fault, `${fault.reason}; it has no effect`, "there-too"),
  );
  return [...gaps, ...lenient];
}

/** What stands for missing lines in an example. */
const GAP = /^[.\u2026]+$/;

/** The first line of each section that is none. */
function strangeSections(
  settings: readonly Setting[],
  agents: readonly string[],
  chosen: string | undefined,
): readonly Setting[] {
  const others = agents.filter((agent) => agent !== chosen);
  const strange = settings
    .map((setting) => ({ setting, parts: setting.key.split(".") }))
    .filter(({ setting, parts: [agent = ""] }) => !hasTooFewParts(setting.key) && !others.includes(agent))
    .filter(({ parts: [, section = "", ...rest] }) => !isSection(section) && !(rest.length === 0 && isOwn(section)));
  return [...new Map(strange.toReversed().map(({ setting }) => [sectionKey(setting), setting])).values()];
}

function sectionKey({ key }: Setting): string {
  return key.split(".").slice(0, 2).join(".");
}

function isSection(name: string): name is SectionName {
  return sectionNames.some((section) => section === name);
}

function isOwn(name: string): name is OwnName {
  return ownNames.some((own) => own === name);
}

function namesAgent([agent, section]: readonly string[]): boolean {
  return agent !== undefined && agent !== "" && section !== undefined && isSection(section);
}

function hasTooFewParts(key: string): boolean {
  const [, section, ...rest] = key.split(".");
  return section === undefined || rest.length === 1 || key.split(".").includes("");
}

/** The fault of a key by its part with the expression, which other lines of a component share. */
function partWithExpression({ key, line }: Setting): readonly [string, ConfigurationFault] {
  const part = /^.*?\$\{[^.]*/.exec(key)?.[0] ?? key;
  const remedy = "expressions are replaced in values only, so write the name itself";
  return [part, errorAt({ key: part, line }, `holds "\${" in its key; ${remedy}`)];
}

function tooFewParts({ key, value, line }: Setting): ConfigurationFault {
  if (GAP.test(key))
    return errorAt({ key, line }, "stands for lines that an example leaves out; write them, or remove it");
  const known = dottedAgent(key) ?? ofInstanceFile(key);
  if (known !== undefined) return errorAt({ key, line }, known);
  const remedy = "write <agent>.<sources, channels or sinks>.<name>.<property>";
  return errorAt({ key, value: shownValue(key, value), line }, `has too few parts; ${remedy}`);
}

/** The reason against an agent whose name holds a dot. */
function dottedAgent(key: string): string | undefined {
  const parts = key.split(".");
  const at = parts.findIndex(isSection);
  if (at < 2) return undefined;
  return `begins with "${parts.slice(0, at).join(".")}", which is no name of an agent: these hold no dots`;
}

const laterSections: ReadonlyMap<string, string> = new Map([
  ["configfilters", `configuration filters are not supported by this version; use \${env:NAME}`],
]);

function unknownSection({ key, line }: Setting): ConfigurationFault {
  const [, section = ""] = key.split(".");
  const later = laterSections.get(section);
  if (later !== undefined) return errorAt({ key, line }, later);
  const dotted = dottedAgent(key);
  if (dotted !== undefined) return errorAt({ key, line }, dotted);
  const reason = `has the unknown section "${section}"; the sections are ${sectionNames.join(", ")}`;
  return errorAt({ key, line, nearest: nearest(section, [...sectionNames, ...ownNames]) }, reason);
}
