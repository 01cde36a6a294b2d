import { type ChannelLink, linkFaults } from "./channel-links.js";
import { readComponent } from "./component.js";
import { readSettings } from "./component-settings.js";
import { type TypeSetting, typeName } from "./component-type.js";
import { type Place, startable } from "./fault-at.js";
import { respelled } from "./respelling.js";
import { settingsWithout } from "./setting.js";
import { sinkProperties, sinkSettings } from "./sink-properties.js";
import type { ComponentBlock, Reading, Surroundings } from "./surroundings.js";
import type { SinkNode } from "./topology.js";

export interface SinkReading extends Reading<SinkNode> {
  readonly name: string;
  readonly link: ChannelLink;
  readonly placeOf: (property: string) => Place;
  /** Undefined where it is at fault itself. */
  readonly batchSize: unknown;
  readonly batchSizePlace: Place;
}

/** Reads a sink: its link, its batching and what its plugin asks for. */
export function readSink(block: ComponentBlock, channels: readonly string[], surroundings: Surroundings): SinkReading {
  const input = componentInput(block);
  const spelt = kernelBlock(block, input.type, surroundings);
  const { config, values, places, faults } = readSettings(sinkSettings, spelt.block, surroundings);
  const component = readComponent(input, surroundings);
  const placeOf = (name: string) => places.get(name) ?? { key: `${block.key}.${name}`, line: block.line };
  const channel = values.get("channel");
  const link = { place: placeOf("channel"), channels: typeof channel === "string" ? [channel] : undefined };
  const reading = {
    name: block.name,
    link,
    placeOf,
    batchSize: values.get("batch_size"),
    batchSizePlace: placeOf("batch_size"),
    faults: [...spelt.faults, ...faults, ...linkFaults(link, channels), ...component.faults],
  };
  if (config === undefined || component.value === undefined || !startable(reading.faults)) {
    return { ...reading, value: undefined };
  }
  const batching = {
    batchSize: config.batch_size,
    batchTimeout: config.batch_timeout,
    ...(config.batch_linger === -1 ? {} : { batchLinger: config.batch_linger }),
    batchTtl: config.batch_ttl,
    batchTtlGiven: places.has("batch_ttl"),
    batchRetryIntervals: config.batch_retry_intervals,
    persistTimeout: config.persist_timeout,
  };
  return { ...reading, value: { ...component.value, channel: config.channel, batching } };
}

/** The lines that the kernel reads, in new spelling. */
function kernelBlock(block: ComponentBlock, type: TypeSetting, surroundings: Surroundings) {
  const name = typeName(type, surroundings);
  const definition = surroundings.catalogue.find("sink", name);
  if (definition === undefined) return { block, faults: [] };
  return respelled({ definition, typeName: name, schema: sinkSettings, block }, surroundings);
}

function componentInput(block: ComponentBlock) {
  const kernelNames = Object.keys(sinkProperties);
  return {
    block: { ...block, settings: settingsWithout(block.settings, kernelNames, []) },
    type: { kind: "sink", key: `${block.key}.type`, setting: block.settings.get("type"), line: block.line },
    kernelNames,
  } as const;
}
