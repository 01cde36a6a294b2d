import {
  type ConfigurationFault,
  type Environment,
  type Location,
  type Reading,
  startable,
  warningAt,
} from "../configuration-fault.js";
import { type ComponentBlock, settingsWithout } from "../file/settings.js";
import { pluginNamed } from "../predecessor/class-names.js";
import { sinkProperties, sinkSettings } from "../schema/component-properties.js";
import { readSettings } from "../schema/component-settings.js";
import { respelled } from "../schema/respelling.js";
import type { Batching, SinkNode } from "../topology.js";
import { type Resource, readComponent } from "./component.js";
import { type TypeSetting, typeName } from "./component-type.js";
import { type ChannelLink, knownChannels, linkFaults } from "./declared-components.js";

export interface SinkReading extends Reading<SinkNode> {
  readonly resources: readonly Resource[];
  readonly name: string;
  readonly link: ChannelLink;
  readonly locationOf: (property: string) => Location;
  /** Undefined where it is at fault itself. */
  readonly batchSize: unknown;
  readonly batchSizeLocation: Location;
}

/** How the batching of a sink calls what the file calls otherwise. */
export const batchingProperties = [
  ["batchSize", "batch_size"],
  ["batchTimeout", "batch_timeout"],
  ["batchLinger", "batch_linger"],
  ["batchTtl", "batch_ttl"],
  ["batchRetryIntervals", "batch_retry_intervals"],
  ["persistTimeout", "persist_timeout"],
] as const satisfies readonly (readonly [keyof Batching, keyof typeof sinkSettings])[];

/** Reads a sink: its link, its batching and the properties of its plugin. */
export function readSink(block: ComponentBlock, channels: readonly string[], environment: Environment): SinkReading {
  const input = componentInput(block);
  const spelt = kernelBlock(block, input.type, environment);
  const { config, values, locations, faults } = readSettings(sinkSettings, spelt.block, environment, {
    channel: knownChannels(channels),
  });
  const component = readComponent(input, environment);
  const locationOf = (name: string) => locations.get(name) ?? { key: `${block.key}.${name}`, line: block.line };
  const channel = values.get("channel");
  const link = { location: locationOf("channel"), channels: typeof channel === "string" ? [channel] : undefined };
  const reading = {
    name: block.name,
    resources: component.resources,
    link,
    locationOf,
    batchSize: values.get("batch_size"),
    batchSizeLocation: locationOf("batch_size"),
    faults: [
      ...spelt.faults,
      ...faults,
      ...secondsForMillis(values.get("batch_retry_intervals"), locationOf("batch_retry_intervals")),
      ...linkFaults(link, channels),
      ...component.faults,
    ],
  };
  if (config === undefined || component.value === undefined || !startable(reading.faults)) {
    return { ...reading, value: undefined };
  }
  const batching = {
    batchSize: config.batch_size,
    batchTimeout: config.batch_timeout,
    ...(config.batch_linger === -1 ? {} : { batchLinger: config.batch_linger }),
    batchTtl: config.batch_ttl,
    batchTtlGiven: locations.has("batch_ttl"),
    batchRetryIntervals: config.batch_retry_intervals,
    persistTimeout: config.persist_timeout,
  };
  return { ...reading, value: { ...component.value, channel: config.channel, batching } };
}

/** A store that is away is not asked more often than this on purpose. */
const SHORT_MILLIS = 100;

/** The other times of a batch are in seconds. */
function secondsForMillis(intervals: unknown, location: Location): readonly ConfigurationFault[] {
  const last: unknown = Array.isArray(intervals) ? intervals.at(-1) : undefined;
  if (typeof last !== "number" || last >= SHORT_MILLIS) return [];
  return [warningAt(location, `is in milliseconds; ${last} seconds are written ${last * 1000}`)];
}

/** The lines that the kernel reads, in new spelling. */
function kernelBlock(block: ComponentBlock, type: TypeSetting, environment: Environment) {
  const name = typeName(type, environment);
  const definition = pluginNamed("sink", name, environment.catalogue);
  if (definition === undefined) return { block, faults: [] };
  return respelled({ definition, typeName: name, schema: sinkSettings, block }, environment);
}

function componentInput(block: ComponentBlock) {
  const kernelNames = Object.keys(sinkProperties);
  return {
    block: { ...block, settings: settingsWithout(block.settings, kernelNames, []) },
    type: { kind: "sink", key: `${block.key}.type`, setting: block.settings.get("type"), line: block.line },
    kernelNames,
  } as const;
}
