import { type ChannelLink, linkFaults } from "./channel-links.js";
import { readComponent } from "./component.js";
import { readSettings } from "./component-settings.js";
import { startable } from "./fault-at.js";
import { readInterceptors } from "./read-interceptors.js";
import type { Resource } from "./resources.js";
import { firstLine } from "./section.js";
import { settingsBelow, settingsWithout } from "./setting.js";
import { sourceProperties, sourceSettings } from "./source-properties.js";
import type { ComponentBlock, Reading, Surroundings } from "./surroundings.js";
import type { ComponentNode, SourceNode } from "./topology.js";

export interface SourceReading extends Reading<SourceNode> {
  readonly name: string;
  readonly resources: readonly Resource[];
  readonly link: ChannelLink;
}

/** Reads a source: its links, its interceptors and selector, and what its plugin asks for. */
export function readSource(
  block: ComponentBlock,
  channels: readonly string[],
  surroundings: Surroundings,
): SourceReading {
  const { config, places, faults } = readSettings(sourceSettings, block, surroundings);
  const component = readComponent(componentInput(block), surroundings);
  const interceptors = readInterceptors(block, surroundings);
  const selector = readSelector(block, config?.channels, surroundings);
  const place = places.get("channels") ?? { key: `${block.key}.channels`, line: block.line };
  const link = { place, channels: config?.channels };
  const reading = {
    name: block.name,
    resources: component.resources,
    link,
    faults: [...faults, ...linkFaults(link, channels), ...component.faults, ...interceptors.faults, ...selector.faults],
  };
  if (
    config === undefined ||
    component.value === undefined ||
    interceptors.value === undefined ||
    selector.value === undefined ||
    !startable(reading.faults)
  ) {
    return { ...reading, value: undefined };
  }
  const linked = { channels: config.channels, interceptors: interceptors.value, selector: selector.value };
  return { ...reading, value: { ...component.value, ...linked } };
}

function componentInput(block: ComponentBlock) {
  const kernelNames = Object.keys(sourceProperties);
  return {
    block: { ...block, settings: settingsWithout(block.settings, kernelNames, ["interceptors", "selector"]) },
    type: { kind: "source", key: `${block.key}.type`, setting: block.settings.get("type"), line: block.line },
    kernelNames,
  } as const;
}

function readSelector(
  block: ComponentBlock,
  channels: readonly string[] | undefined,
  surroundings: Surroundings,
): Reading<ComponentNode> {
  const key = `${block.key}.selector`;
  const settings = settingsBelow(block.settings, "selector");
  const line = firstLine(settings) ?? block.line;
  return readComponent(
    {
      block: { name: "selector", key, line, settings: settingsWithout(settings, ["type"], []) },
      type: {
        kind: "selector",
        key: `${key}.type`,
        setting: settings.get("type"),
        line,
        preset: sourceProperties["selector.type"].default,
      },
      kernelNames: ["type"],
      linked: channels,
    },
    surroundings,
  );
}
