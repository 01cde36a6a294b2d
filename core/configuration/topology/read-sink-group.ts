import {
  type ConfigurationFault,
  errorAt,
  type Location,
  nearest,
  startable,
  warningAt,
} from "../configuration-fault.js";
import type { Environment, Reading } from "../environment.js";
import { type ComponentBlock, firstLine, settingsBelow, settingsWithout } from "../file/settings.js";
import { sinkGroupProperties, sinkGroupSettings } from "../schema/component-properties.js";
import { readSettings } from "../schema/component-settings.js";
import type { ComponentNode, SinkGroupNode } from "../topology.js";
import { readComponent } from "./component.js";

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
    return warningAt(location, `is not a property of a sink group and has no effect; write it below ${key}.processor`);
  });
}
