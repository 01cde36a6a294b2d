import { type ConfigurationFault, warningAt } from "../configuration-fault.js";
import { type ComponentBlock, type Setting, settingsBelow } from "../file/settings.js";
import { pluginNamed } from "./class-names.js";
import { type Leaving, leavingAt, without } from "./listed-components.js";
import { type Environments, listedBlocks, type OldAgent, withFaults, withWords, wordsOf } from "./old-agent.js";

const REPLICATING = "replicating";

/** Sinks read from channels that exist. */
export function sinksWithChannel(agent: OldAgent, environment: Environments): OldAgent {
  const channels = namesOf(agent, "channels", environment);
  const leaving = listedBlocks(agent, "sinks", environment).flatMap((block): readonly Leaving[] => {
    const setting = block.settings.get("channel");
    const [value = "", ...others] = wordsOf(setting, environment) ?? [];
    const isReadable = setting === undefined || wordsOf(setting, environment) !== undefined;
    if (!isReadable || others.length > 0 || channels.includes(value)) return [];
    if (setting === undefined) return [{ ...leavingAt(block), reason: "has no channel", isLoss: false }];
    const location = { key: setting.key, value, line: setting.line };
    return [
      { name: block.name, location, reason: `names no channel, so sink "${block.name}" has none`, isLoss: false },
    ];
  });
  return without(agent, "sinks", leaving, environment);
}

/** Channels are read by a sink. With a selector that chooses a source may need one that is not. */
export function channelsWithSink(agent: OldAgent, environment: Environments): OldAgent {
  const sinks = listedBlocks(agent, "sinks", environment);
  const selecting = listedBlocks(agent, "sources", environment).filter((source) => isSelecting(source, environment));
  const read = sinks.map(({ settings }) => wordsOf(settings.get("channel"), environment));
  const needed = selecting.map(({ settings }) => wordsOf(settings.get("channels"), environment));
  if ([...read, ...needed].includes(undefined)) return agent;
  const used = new Set([...read, ...needed].flatMap((names = []) => names));
  const leaving = listedBlocks(agent, "channels", environment)
    .filter(({ name }) => !used.has(name))
    .map((block) => ({ ...leavingAt(block), reason: "is read by no sink", isLoss: false }));
  return without(agent, "channels", leaving, environment);
}

/** Whether a source has a selector that does more than giving each event to all channels. */
function isSelecting({ settings }: ComponentBlock, environment: Environments): boolean {
  const selector = settingsBelow(settings, "selector");
  const [name = ""] = wordsOf(selector.get("type"), environment) ?? [];
  const isReplicating = pluginNamed("selector", name, environment.catalogue)?.type === REPLICATING;
  return selector.size > (isReplicating ? 1 : 0);
}

/** Sources write to channels that exist, and name each once. */
export function sourcesWithChannels(agent: OldAgent, environment: Environments): OldAgent {
  const channels = namesOf(agent, "channels", environment);
  const linked = listedBlocks(agent, "sources", environment).reduce(
    (before, { settings }) =>
      withNames(before, settings.get("channels"), { known: channels, what: "channel" }, environment),
    agent,
  );
  const leaving = listedBlocks(linked, "sources", environment)
    .filter(({ settings }) => wordsOf(settings.get("channels"), environment)?.length === 0)
    .map((block) => ({ ...leavingAt(block), reason: "has no channel", isLoss: false }));
  return without(linked, "sources", leaving, environment);
}

/** Sink groups hold sinks that exist. */
export function groupsWithSinks(agent: OldAgent, environment: Environments): OldAgent {
  const sinks = namesOf(agent, "sinks", environment);
  const linked = listedBlocks(agent, "sinkgroups", environment).reduce(
    (before, { settings }) => withNames(before, settings.get("sinks"), { known: sinks, what: "sink" }, environment),
    agent,
  );
  const leaving = listedBlocks(linked, "sinkgroups", environment)
    .filter(({ settings }) => wordsOf(settings.get("sinks"), environment)?.length === 0)
    .map((block) => ({ ...leavingAt(block), reason: "has no sink", isLoss: false }));
  return without(linked, "sinkgroups", leaving, environment);
}

interface KnownNames {
  readonly known: readonly string[];
  readonly what: "channel" | "sink";
}

/** The agent with the known names of a setting, each once, and a warning for each of the others. */
function withNames(
  agent: OldAgent,
  setting: Setting | undefined,
  { known, what }: KnownNames,
  environment: Environments,
): OldAgent {
  const written = wordsOf(setting, environment);
  if (setting === undefined || written === undefined) return agent;
  const distinct = [...new Set(written)];
  const kept = distinct.filter((name) => known.includes(name));
  if (kept.length === written.length) return agent;
  const location = (value: string) => ({ key: setting.key, value, line: setting.line });
  const faults: readonly ConfigurationFault[] = [
    ...distinct
      .filter((name) => !known.includes(name))
      .map((name) => warningAt(location(name), `names no ${what} that is used; it is left out`)),
    ...kept
      .filter((name) => written.indexOf(name) !== written.lastIndexOf(name))
      .map((name) => warningAt(location(name), "is named twice; it counts once")),
  ];
  return withFaults(withWords(agent, setting, kept), faults);
}

function namesOf(agent: OldAgent, section: "channels" | "sinks", environment: Environments): readonly string[] {
  return listedBlocks(agent, section, environment).map(({ name }) => name);
}
