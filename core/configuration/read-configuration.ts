import {
  type ConfigurationFault,
  type Environment,
  errorAt,
  nearest,
  type Reading,
  startable,
} from "./configuration-fault.js";
import { agentNames, agentSection, agentSetting, keyFaults } from "./file/agent-sections.js";
import { parseProperties } from "./file/properties.js";
import { type ComponentBlock, type Setting, settingsWithout } from "./file/settings.js";
import { isOldAgent } from "./predecessor/old-agent.js";
import { usedSettings } from "./predecessor/used-settings.js";
import { variableFaults } from "./schema/unknown-settings.js";
import { clientFaults, folderFaults, loopFaults, portFaults, sharedChannels } from "./topology/collisions.js";
import { type ComponentReading, readComponent } from "./topology/component.js";
import { declaredComponents, emptyListFaults, idleChannels } from "./topology/declared-components.js";
import { readSink, type SinkReading } from "./topology/read-sink.js";
import { groupLinkFaults, readSinkGroup } from "./topology/read-sink-group.js";
import { readSource } from "./topology/read-source.js";
import { readWorkers } from "./topology/read-workers.js";
import { unusedMappings } from "./topology/unused-mappings.js";
import type { ComponentNode, Topology } from "./topology.js";

export interface ConfigurationInput extends Environment {
  /** The properties file. */
  readonly text: string;
  /** The file as ISO 8859-1, where its bytes are no UTF-8: predecessors read their files so. */
  readonly latin1?: string;
  /** May be omitted when the file holds one agent. */
  readonly agent?: string;
}

export interface Configuration {
  /** Undefined when one of the faults is an error. */
  readonly topology: Topology | undefined;
  /** Names of all agents of the file, in its order. */
  readonly agents: readonly string[];
  /** In the order of the file; those without a line last. */
  readonly faults: readonly ConfigurationFault[];
}

/** Reads one agent of a properties file and reports everything that is wrong with it at once. */
export function readConfiguration(input: ConfigurationInput): Configuration {
  const { text: asUtf8, latin1, agent, ...environment } = input;
  const read = parseProperties(asUtf8);
  const agents = agentNames(read.settings);
  const choice = chooseAgent(agents, agent);
  const chosen = typeof choice === "string" ? choice : undefined;
  const isOld = chosen !== undefined && isOldAgent(read.settings, chosen, environment);
  const text = isOld && latin1 !== undefined ? latin1 : asUtf8;
  const { settings, faults: syntax } = text === asUtf8 ? read : parseProperties(text);
  const used = chosen === undefined ? undefined : usedSettings(settings, chosen, environment);
  const reading = used === undefined ? undefined : readAgent(used.settings, used.name, environment);
  const faults = [
    ...(typeof choice === "string" ? [] : [choice]),
    ...syntax,
    ...keyFaults(settings, { agents, chosen, isLenient: isOld }),
    ...(used?.faults ?? []),
    ...(reading?.faults ?? []),
    ...variableFaults(text, environment),
  ];
  return { topology: startable(faults) ? reading?.value : undefined, agents, faults: inFileOrder(faults) };
}

function chooseAgent(agents: readonly string[], wanted: string | undefined): string | ConfigurationFault {
  const [only, ...others] = agents;
  if (only === undefined) {
    return errorAt(
      { key: "agent", value: wanted },
      "is not in the file: it holds no sources, channels or sinks of an agent",
    );
  }
  const known = agents.join(", ");
  if (wanted === undefined) {
    return others.length === 0 ? only : errorAt({ key: "agent" }, `must be named by --name: the file holds ${known}`);
  }
  if (agents.includes(wanted)) return wanted;
  const location = { key: "agent", value: wanted, nearest: nearest(wanted, agents) };
  return errorAt(location, `is not in the file, which holds ${known}`);
}

function inFileOrder(faults: readonly ConfigurationFault[]): readonly ConfigurationFault[] {
  return faults.toSorted((a, b) => (a.line ?? Number.MAX_SAFE_INTEGER) - (b.line ?? Number.MAX_SAFE_INTEGER));
}

/** Reads the components of one agent and how they are linked. The value counts only when no fault is an error. */
function readAgent(settings: readonly Setting[], agent: string, environment: Environment): Reading<Topology> {
  const section = {
    sources: agentSection(settings, agent, "sources"),
    channels: agentSection(settings, agent, "channels"),
    sinks: agentSection(settings, agent, "sinks"),
    groups: agentSection(settings, agent, "sinkgroups"),
  };
  const declared = {
    sources: declaredComponents(section.sources, environment.env),
    channels: declaredComponents(section.channels, environment.env),
    sinks: declaredComponents(section.sinks, environment.env),
    groups: declaredComponents(section.groups, environment.env),
  };
  const workers = readWorkers(agentSetting(settings, agent, "workers"), environment);
  const names = declared.channels.names;
  const channels = declared.channels.blocks.map((block) => readChannel(block, environment));
  const sources = declared.sources.blocks.map((block) => readSource(block, names, environment));
  const sinks = declared.sinks.blocks.map((block) => readSink(block, names, environment));
  const groups = declared.groups.blocks.map((block) => readSinkGroup(block, declared.sinks.names, environment));
  const links = { written: sources.map(({ link }) => link), read: sinks.map(({ link }) => link) };
  const resources = [...sources, ...channels, ...sinks].flatMap((reading) => reading.resources);
  const groupLinks = groupLinkFaults(groups, sinks);
  const nodes = {
    sources: valuesOf(sources),
    channels: valuesOf(channels),
    sinks: valuesOf(sinks),
    groups: valuesOf(groups),
  };
  return {
    value: { agent, ...nodes, ...(workers.value === undefined ? {} : { workers: workers.value }) },
    faults: [
      ...workers.faults,
      ...Object.values(declared).flatMap(({ faults }) => faults),
      ...(nodes.channels.some(isFedByOthers) ? [] : emptyListFaults(section.sources, declared.sources)),
      ...emptyListFaults(section.channels, declared.channels),
      ...emptyListFaults(section.sinks, declared.sinks),
      ...[...channels, ...sources, ...sinks, ...groups].flatMap(({ faults }) => faults),
      ...idleChannels(declared.channels, links, new Set(nodes.channels.filter(isFedByOthers).map(({ name }) => name))),
      ...groupLinks,
      ...sinks.flatMap((sink) => capacityFaults(sink, nodes.channels)),
      ...unusedMappings(sources, sinks, environment),
      ...(startable(groupLinks) ? sharedChannels(sinks, groups, nodes.channels) : []),
      ...folderFaults(resources),
      ...clientFaults(resources),
      ...portFaults(resources, environment.management),
      ...loopFaults(sources, sinks),
    ],
  };
}

/** Without a source in this agent it still gets events. */
function isFedByOthers({ definition }: ComponentNode): boolean {
  return definition.feeders === "others";
}

function readChannel(block: ComponentBlock, environment: Environment): ComponentReading {
  const setting = block.settings.get("type");
  return readComponent(
    {
      block: { ...block, settings: settingsWithout(block.settings, ["type"], []) },
      type: { kind: "channel", key: `${block.key}.type`, setting, line: block.line },
      kernelNames: ["type"],
    },
    environment,
  );
}

/** A batch is taken in one transaction of the channel, so it must fit into one. */
function capacityFaults(
  { link, batchSize, batchSizeLocation }: SinkReading,
  channels: readonly ComponentNode[],
): readonly ConfigurationFault[] {
  const channel = channels.find(({ name }) => link.channels?.includes(name));
  const capacity = channel?.config.transactionCapacity;
  if (typeof batchSize !== "number" || typeof capacity !== "number" || batchSize <= capacity) return [];
  const reason = `is more than the transactionCapacity ${capacity} of channel "${channel?.name}"`;
  return [errorAt(batchSizeLocation, `${reason}; raise transactionCapacity or lower batch_size`)];
}

function valuesOf<T>(readings: readonly Reading<T>[]): readonly T[] {
  return readings.flatMap(({ value }) => (value === undefined ? [] : [value]));
}
