import { type ConfigurationFault, errorAt, startable } from "../configuration-fault.js";
import type { Environment, Reading } from "../environment.js";
import { agentSection } from "../file/agent-sections.js";
import { type ComponentBlock, type Setting, settingsWithout } from "../file/settings.js";
import type { ComponentNode, Topology } from "../topology.js";
import { idleChannels } from "./channel-links.js";
import { folderFaults, portFaults } from "./collisions.js";
import { type ComponentReading, readComponent } from "./component.js";
import { declaredComponents, emptyListFaults } from "./declared-components.js";
import { loopFaults } from "./loops.js";
import { readSink, type SinkReading } from "./read-sink.js";
import { readSinkGroup } from "./read-sink-group.js";
import { readSource } from "./read-source.js";
import { groupLinkFaults, sharedChannels } from "./sink-group-links.js";

/** Reads the components of one agent and how they are linked. The value counts only when no fault is an error. */
export function readAgent(settings: readonly Setting[], agent: string, environment: Environment): Reading<Topology> {
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
    value: { agent, ...nodes },
    faults: [
      ...Object.values(declared).flatMap(({ faults }) => faults),
      ...emptyListFaults(section.sources, declared.sources),
      ...emptyListFaults(section.channels, declared.channels),
      ...emptyListFaults(section.sinks, declared.sinks),
      ...[...channels, ...sources, ...sinks, ...groups].flatMap(({ faults }) => faults),
      ...idleChannels(declared.channels, links),
      ...groupLinks,
      ...sinks.flatMap((sink) => capacityFaults(sink, nodes.channels)),
      ...(startable(groupLinks) ? sharedChannels(sinks, groups) : []),
      ...folderFaults(resources),
      ...portFaults(resources, environment.management),
      ...loopFaults(sources, sinks),
    ],
  };
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
