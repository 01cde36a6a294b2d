import { readComponent } from "./component.js";
import { declaredComponents } from "./declared-components.js";
import type { Fault } from "./fault.js";
import { errorAt, startable } from "./fault-at.js";
import { sectionOf } from "./section.js";
import { type Settings, settingsBelow, settingsWithout } from "./setting.js";
import type { ComponentBlock, Reading, Surroundings } from "./surroundings.js";
import type { ComponentNode } from "./topology.js";

/** Reads the interceptors of a source, in the order of its list. */
export function readInterceptors(
  source: ComponentBlock,
  surroundings: Surroundings,
): Reading<readonly ComponentNode[]> {
  const below = settingsBelow(source.settings, "interceptors");
  const section = sectionOf(`${source.key}.interceptors`, source.settings.get("interceptors"), below);
  const declared = declaredComponents(section, surroundings.env);
  const readings = declared.blocks.map((block) => readInterceptor(block, surroundings));
  const faults = [...declared.faults, ...strayFaults(below), ...readings.flatMap((reading) => reading.faults)];
  const nodes = readings.flatMap(({ value }) => (value === undefined ? [] : [value]));
  return { value: startable(faults) ? nodes : undefined, faults };
}

function readInterceptor(block: ComponentBlock, surroundings: Surroundings): Reading<ComponentNode> {
  const setting = block.settings.get("type");
  return readComponent(
    {
      block: { ...block, settings: settingsWithout(block.settings, ["type"], []) },
      type: { kind: "interceptor", key: `${block.key}.type`, setting, line: block.line },
      kernelNames: ["type"],
    },
    surroundings,
  );
}

function strayFaults(below: Settings): readonly Fault[] {
  return [...below]
    .filter(([path]) => !path.includes("."))
    .map(([path, { key, value, line }]) =>
      errorAt({ key, value, line }, `has too few parts; write interceptors.${path}.<property>`),
    );
}
