import type { Setting } from "../file/settings.js";
import { channelsWithSink, groupsWithSinks, sinksWithChannel, sourcesWithChannels } from "./linked-components.js";
import {
  interceptorsWithEffect,
  listedOnce,
  listedWithPlugin,
  listedWithSettings,
  listedWithType,
} from "./listed-components.js";
import { type Environments, isOldAgent, listedBlocks, type OldAgent } from "./old-agent.js";

/**
 * An agent with class names of a predecessor as that one starts it: what is listed twice, has no settings or leads nowhere
 * is left out with a warning. Other agents, and those of which nothing would remain, are unchanged.
 */
export function usedSettings(settings: readonly Setting[], name: string, environment: Environments): OldAgent {
  const unchanged = { name, settings, removed: [], faults: [] };
  if (!isOldAgent(settings, name, environment)) return unchanged;
  const used = steps.reduce<OldAgent>((agent, step) => step(agent, environment), unchanged);
  const isEmpty = sections.some((section) => listedBlocks(used, section, environment).length === 0);
  return isEmpty && environment.leaveOut !== true ? unchanged : used;
}

const sections = ["sources", "channels", "sinks"] as const;

const steps = [
  listedOnce,
  listedWithSettings,
  listedWithType,
  listedWithPlugin,
  sinksWithChannel,
  channelsWithSink,
  sourcesWithChannels,
  groupsWithSinks,
  interceptorsWithEffect,
] as const satisfies readonly ((agent: OldAgent, environment: Environments) => OldAgent)[];
