import {
  type ConfigurationFault,
  type Environment,
  errorAt,
  type Location,
  nearest,
  type Reading,
  startable,
  unreadAt,
  warningAt,
} from "../configuration-fault.js";
import { type ComponentBlock, firstLine, settingsBelow, settingsWithout } from "../file/settings.js";
import { sinkGroupProperties, sinkGroupSettings } from "../schema/component-properties.js";
import { readSettings } from "../schema/component-settings.js";
import type { ComponentNode, SinkGroupNode } from "../topology.js";
import { readComponent } from "./component.js";
import { batchingProperties, type SinkReading } from "./read-sink.js";

export interface SinkGroupReading extends Reading<SinkGroupNode> {
  readonly name: string;
  readonly location: Location;
  /** Undefined when they could not be read. */
  readonly sinks: readonly string[] | undefined;
}

/** Reads a sink group: its sinks and its processor. */
export function readSinkGroup(
  block: ComponentBlock,
  declared: readonly string[],
  environment: Environment,
): SinkGroupReading {
  const { config, locations, faults } = readSettings(sinkGroupSettings, block, environment);
  const processor = readProcessor(block, config?.sinks, environment);
  const location = locations.get("sinks") ?? { key: `${block.key}.sinks`, line: block.line };
  const all = [
    ...faults,
    ...nameFaults(block, declared),
    ...memberFaults(location, config?.sinks, declared),
    ...strayFaults(block),
    ...processor.faults,
  ];
  const reading = { name: block.name, location, sinks: config?.sinks, faults: all };
  if (config === undefined || processor.value === undefined || !startable(all)) return { ...reading, value: undefined };
  return {
    ...reading,
    value: {
      name: block.name,
      sinks: config.sinks,
      processor: processor.value,
      positionsTimeout: config.positions_timeout,
    },
  };
}

function readProcessor(
  block: ComponentBlock,
  sinks: readonly string[] | undefined,
  environment: Environment,
): Reading<ComponentNode> {
  const key = `${block.key}.processor`;
  const settings = settingsBelow(block.settings, "processor");
  const line = firstLine(settings) ?? block.line;
  const setting = settings.get("type");
  const preset = sinkGroupProperties["processor.type"].default;
  return readComponent(
    {
      block: { name: block.name, key, line, settings: settingsWithout(settings, ["type"], []) },
      type: { kind: "sink-processor", key: `${key}.type`, setting, line, preset },
      kernelNames: ["type"],
      linked: sinks,
    },
    environment,
  );
}

/** Dead letters and log lines name a group as they name a sink. */
function nameFaults({ name, key, line }: ComponentBlock, declared: readonly string[]): readonly ConfigurationFault[] {
  return declared.includes(name) ? [errorAt({ key, line }, `has the name of a sink; give the group another one`)] : [];
}

function memberFaults(
  location: Location,
  sinks: readonly string[] | undefined,
  declared: readonly string[],
): readonly ConfigurationFault[] {
  if (sinks === undefined || declared.length === 0) return [];
  if (sinks.length === 0) return [errorAt(location, "must name at least one sink")];
  const distinct = [...new Set(sinks)];
  const unknown = distinct
    .filter((name) => !declared.includes(name))
    .map((value) =>
      errorAt(
        { ...location, value, nearest: nearest(value, declared) },
        `names no sink; the sinks are: ${declared.join(", ")}`,
      ),
    );
  const twice = distinct
    .filter((name) => sinks.indexOf(name) !== sinks.lastIndexOf(name))
    .map((value) => errorAt({ ...location, value }, "is named twice; name each sink once"));
  return [...unknown, ...twice];
}

function strayFaults({ key, settings }: ComponentBlock): readonly ConfigurationFault[] {
  return [...settingsWithout(settings, Object.keys(sinkGroupSettings), ["processor"])].map(([path, setting]) => {
    const meant = nearest(path, Object.keys(sinkGroupProperties));
    const location = { key: setting.key, value: setting.value, line: setting.line, nearest: meant };
    const isGroups = meant !== undefined && !meant.startsWith("processor.");
    const remedy = isGroups ? "" : `; write it below ${key}.processor`;
    return unreadAt(location, `is not a property of a sink group and has no effect${remedy}`, "there-too");
  });
}

/** What is wrong between the groups of an agent and their sinks. */
export function groupLinkFaults(
  groups: readonly SinkGroupReading[],
  sinks: readonly SinkReading[],
): readonly ConfigurationFault[] {
  return groups.flatMap((group, index) => [
    ...takenFaults(group, groups.slice(0, index)),
    ...channelFaults(group, sinks),
    ...feedingFaults(group, sinks),
  ]);
}

function takenFaults(
  { location, sinks = [] }: SinkGroupReading,
  before: readonly SinkGroupReading[],
): readonly ConfigurationFault[] {
  return [...new Set(sinks)].flatMap((value) => {
    const other = before.find((group) => group.sinks?.includes(value));
    const reason = `is in the group "${other?.name}" already; a sink is in one group at most`;
    return other === undefined ? [] : [errorAt({ ...location, value }, reason)];
  });
}

/** A group takes a batch once, so there is one channel to take it from. */
function channelFaults(
  { location, name, sinks = [] }: SinkGroupReading,
  all: readonly SinkReading[],
): readonly ConfigurationFault[] {
  const read = sinks.flatMap((sink) => {
    const channel = all.find((reading) => reading.name === sink)?.link.channels?.[0];
    return channel === undefined ? [] : [{ sink, channel }];
  });
  if (new Set(read.map(({ channel }) => channel)).size < 2) return [];
  const listed = read.map(({ sink, channel }) => `"${sink}" from "${channel}"`).join(", ");
  return [errorAt(location, `the sinks of group "${name}" read from different channels: ${listed}; give them one`)];
}

/** The settings of the first sink apply to the group; different ones of another sink would be ignored silently. */
function feedingFaults(
  { name, sinks = [] }: SinkGroupReading,
  all: readonly SinkReading[],
): readonly ConfigurationFault[] {
  const members = sinks.flatMap((sink) => all.find((reading) => reading.name === sink) ?? []);
  const [first, ...others] = members;
  if (first?.value === undefined) return [];
  const { batching } = first.value;
  return others.flatMap(({ value, locationOf }) => {
    if (value === undefined) return [];
    const differing = ofGroup.filter(([field]) => String(value.batching[field]) !== String(batching[field]));
    return differing.map(([field, key]) => {
      const rule = `the group "${name}" uses the settings of its first sink: "${first.name}" has ${batching[field]}`;
      return warningAt(locationOf(key), `has no effect: ${rule}; write the same here`);
    });
  });
}

/** Each sink has its own time-out. */
const ofGroup = batchingProperties.filter(([field]) => field !== "persistTimeout");
