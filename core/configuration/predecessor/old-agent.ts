import type { ConfigurationFault, Environment } from "../configuration-fault.js";
import { agentSection, type SectionName } from "../file/agent-sections.js";
import type { ComponentBlock, Setting } from "../file/settings.js";
import { substitute } from "../file/substitution.js";
import { words } from "../schema/typed-values.js";
import { absentType } from "./absent-types.js";
import { isClassName } from "./class-names.js";

/** An agent of a file of a predecessor, as far as the predecessor would start it. */
export interface OldAgent {
  readonly name: string;
  /** Those of the file, of other agents too; lists hold no name that is left out. */
  readonly settings: readonly Setting[];
  readonly removed: readonly Removed[];
  /** A warning for each name and each component that is left out. */
  readonly faults: readonly ConfigurationFault[];
}

/** A component whose lines are not read. */
export interface Removed {
  /** The key of the component. */
  readonly key: string;
  readonly reason: string;
  /** Whether it did something in the predecessor. */
  readonly isLoss: boolean;
}

export type Environments = Pick<Environment, "env" | "catalogue" | "leaveOut">;

const kinds = ["source", "handler", "interceptor", "channel", "selector", "sink", "sink-processor"] as const;
const TYPE = /\.(?:type|handler)$/;

/** Whether a component of the agent has a class name of a predecessor. */
export function isOldAgent(settings: readonly Setting[], agent: string, { catalogue, env }: Environments): boolean {
  const types = settings.filter(({ key }) => key.startsWith(`${agent}.`) && TYPE.test(key));
  return types.some(({ value }) => {
    const name = substitute(value, env).text;
    return kinds.some((kind) => isClassName(kind, name, catalogue) || absentType(kind, name) !== undefined);
  });
}

/** The components that a section lists and that have lines, in the order of the list. */
export function listedBlocks(
  { name: agent, settings }: OldAgent,
  section: SectionName,
  environment: Environments,
): readonly ComponentBlock[] {
  const { key, list, components } = agentSection(settings, agent, section);
  return (wordsOf(list, environment) ?? []).flatMap((name) => {
    const below = components.get(name);
    return below === undefined ? [] : [{ name, key: `${key}.${name}`, line: undefined, settings: below }];
  });
}

/** The words of a setting; undefined where a variable in it is not set, or there is no such setting. */
export function wordsOf(setting: Setting | undefined, { env }: Environments): readonly string[] | undefined {
  if (setting === undefined) return undefined;
  const { text, mistakes } = substitute(setting.value, env);
  return mistakes.length > 0 ? undefined : words(text);
}

/** The agent with other words in one setting. */
export function withWords(agent: OldAgent, setting: Setting, kept: readonly string[]): OldAgent {
  const changed = { ...setting, value: kept.join(" ") };
  return { ...agent, settings: agent.settings.map((one) => (one === setting ? changed : one)) };
}

/** The agent without the lines of some components. */
export function withoutComponents(agent: OldAgent, removed: readonly Removed[]): OldAgent {
  const isKept = ({ key }: Setting) => removed.every((one) => !key.startsWith(`${one.key}.`));
  return { ...agent, settings: agent.settings.filter(isKept), removed: [...agent.removed, ...removed] };
}

export function withFaults(agent: OldAgent, faults: readonly ConfigurationFault[]): OldAgent {
  return { ...agent, faults: [...agent.faults, ...faults] };
}
