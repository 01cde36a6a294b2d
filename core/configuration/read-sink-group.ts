import { readComponent } from "./component.js";
import { readSettings } from "./component-settings.js";
import type { Fault } from "./fault.js";
import { errorAt, type Place, startable, warningAt } from "./fault-at.js";
import { nearest } from "./nearest.js";
import { firstLine } from "./section.js";
import { settingsBelow, settingsWithout } from "./setting.js";
import { sinkGroupProperties, sinkGroupSettings } from "./sink-group-properties.js";
import type { ComponentBlock, Reading, Surroundings } from "./surroundings.js";
import type { ComponentNode, SinkGroupNode } from "./topology.js";

export interface SinkGroupReading extends Reading<SinkGroupNode> {
  readonly name: string;
  readonly place: Place;
  /** Undefined when they could not be read. */
  readonly sinks: readonly string[] | undefined;
}

/** Reads a sink group: its sinks and its processor. */
export function readSinkGroup(
  block: ComponentBlock,
  declared: readonly string[],
  surroundings: Surroundings,
): SinkGroupReading {
  const { config, places, faults } = readSettings(sinkGroupSettings, block, surroundings);
  const processor = readProcessor(block, config?.sinks, surroundings);
  const place = places.get("sinks") ?? { key: `${block.key}.sinks`, line: block.line };
  const all = [
    ...faults,
    ...nameFaults(block, declared),
    ...memberFaults(place, config?.sinks, declared),
    ...strayFaults(block),
    ...processor.faults,
  ];
  const reading = { name: block.name, place, sinks: config?.sinks, faults: all };
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
  surroundings: Surroundings,
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
    surroundings,
  );
}

/** Dead letters and log lines go by the name of a group as by that of a sink. */
function nameFaults({ name, key, line }: ComponentBlock, declared: readonly string[]): readonly Fault[] {
  return declared.includes(name) ? [errorAt({ key, line }, `has the name of a sink; give the group another one`)] : [];
}

function memberFaults(
  place: Place,
  sinks: readonly string[] | undefined,
  declared: readonly string[],
): readonly Fault[] {
  if (sinks === undefined || declared.length === 0) return [];
  if (sinks.length === 0) return [errorAt(place, "must name at least one sink")];
  const distinct = [...new Set(sinks)];
  const unknown = distinct
    .filter((name) => !declared.includes(name))
    .map((value) =>
      errorAt(
        { ...place, value, nearest: nearest(value, declared) },
        `names no sink; the sinks are: ${declared.join(", ")}`,
      ),
    );
  const twice = distinct
    .filter((name) => sinks.indexOf(name) !== sinks.lastIndexOf(name))
    .map((value) => errorAt({ ...place, value }, "is named twice; name each sink once"));
  return [...unknown, ...twice];
}

function strayFaults({ key, settings }: ComponentBlock): readonly Fault[] {
  return [...settingsWithout(settings, Object.keys(sinkGroupSettings), ["processor"])].map(([path, setting]) => {
    const meant = nearest(path, Object.keys(sinkGroupProperties));
    const place = { key: setting.key, value: setting.value, line: setting.line, nearest: meant };
    return warningAt(place, `is not a property of a sink group and has no effect; write it below ${key}.processor`);
  });
}
