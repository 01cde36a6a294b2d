import { eventHeaders } from "../../ngsi/index.js";
import {
  type ConfigurationFault,
  type Environment,
  errorAt,
  type Location,
  type Reading,
  startable,
} from "../configuration-fault.js";
import {
  type ComponentBlock,
  firstLine,
  type Settings,
  sectionOf,
  settingsBelow,
  settingsWithout,
} from "../file/settings.js";
import { quotaSettings, sourceProperties, sourceSettings } from "../schema/component-properties.js";
import { readSettings } from "../schema/component-settings.js";
import type { ComponentNode, SourceNode } from "../topology.js";
import { type Resource, readComponent } from "./component.js";
import { type ChannelLink, declaredComponents, knownChannels, linkFaults } from "./declared-components.js";
import { readQuota } from "./read-quota.js";

export interface SourceReading extends Reading<SourceNode> {
  readonly name: string;
  readonly resources: readonly Resource[];
  readonly link: ChannelLink;
  readonly locationOf: (property: string) => Location;
}

/** Reads a source: its links, its interceptors and selector, and the properties of its plugin. */
export function readSource(
  block: ComponentBlock,
  channels: readonly string[],
  environment: Environment,
): SourceReading {
  const { config, locations, faults } = readSettings(sourceSettings, block, environment, {
    channels: knownChannels(channels),
  });
  const component = readComponent(componentInput(block), environment);
  const interceptors = readInterceptors(block, environment);
  const selector = readSelector(block, config?.channels, environment);
  const quotas = readSettings(quotaSettings, block, environment);
  const quota = readQuota(quotas.config, block);
  const location = locations.get("channels") ?? { key: `${block.key}.channels`, line: block.line };
  const link = { location, channels: config?.channels };
  const reading = {
    name: block.name,
    resources: component.resources,
    link,
    locationOf: (name: string) => {
      const { key = `${block.key}.${name}`, value, line = block.line } = block.settings.get(name) ?? {};
      return { key, value, line };
    },
    faults: [
      ...faults,
      ...linkFaults(link, channels),
      ...component.faults,
      ...targetFaults(component.value, block),
      ...headerFaults(component.value, block),
      ...interceptors.faults,
      ...selector.faults,
      ...quotas.faults,
      ...quota.faults,
    ],
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
  const limited = quota.value === undefined ? {} : { quota: quota.value };
  return { ...reading, value: { ...component.value, ...linked, ...limited } };
}

function componentInput(block: ComponentBlock) {
  const kernelNames = Object.keys(sourceProperties);
  return {
    block: {
      ...block,
      settings: settingsWithout(block.settings, kernelNames, ["interceptors", "selector", "quota.services"]),
    },
    type: { kind: "source", key: `${block.key}.type`, setting: block.settings.get("type"), line: block.line },
    kernelNames,
  } as const;
}

/** Of a source that itself says at which path its handler takes requests: at another one each would be refused. */
function targetFaults(node: ComponentNode | undefined, { key, line, settings }: ComponentBlock) {
  const own = node?.config["notification_target"];
  const taken = node?.slots["handler"]?.config["notification_target"];
  if (typeof own !== "string" || typeof taken !== "string" || own === taken) return [];
  const name = settings.has("notification_target") ? "notification_target" : "handler.notification_target";
  const location = { key: `${key}.${name}`, line: settings.get(name)?.line ?? line };
  const reason = `the handler takes notifications at "${taken}" and the source gives it "${own}", so that all would be refused`;
  return [errorAt(location, `${reason}; give the source and its handler the same notification_target`)];
}

/** Properties of sources with the header that their handler gets of messages that do not name it. */
const fixedHeaders = {
  content_type: "content-type",
  service: eventHeaders.service,
  service_path: eventHeaders.servicePath,
} as const;

/** Of a source that gives its handler the same header for all messages: what the handler refuses would be each of them. */
function headerFaults(node: ComponentNode | undefined, { key, line, settings }: ComponentBlock) {
  const handler = node?.slots["handler"];
  const given = Object.entries(fixedHeaders).flatMap(([name, header]) => {
    const value = node?.config[name];
    return typeof value === "string" && value !== "" ? [{ name, header, value }] : [];
  });
  if (handler === undefined || given.length === 0) return [];
  const headers = Object.fromEntries(given.map(({ header, value }) => [header, value]));
  const refused = handler.definition.refusedHeaders?.(handler.config, headers) ?? {};
  return given.flatMap(({ name, header, value }) => {
    const reason = refused[header];
    if (reason === undefined) return [];
    const location = { key: `${key}.${name}`, line: settings.get(name)?.line ?? line, value };
    return [errorAt(location, `${reason}: the handler would refuse each message that does not name its own`)];
  });
}

function readSelector(
  block: ComponentBlock,
  channels: readonly string[] | undefined,
  environment: Environment,
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
    environment,
  );
}

/** Reads the interceptors of a source, in the order of its list. */
function readInterceptors(source: ComponentBlock, environment: Environment): Reading<readonly ComponentNode[]> {
  const below = settingsBelow(source.settings, "interceptors");
  const section = sectionOf(`${source.key}.interceptors`, source.settings.get("interceptors"), below);
  const declared = declaredComponents(section, environment.env);
  const readings = declared.blocks.map((block) => readInterceptor(block, environment));
  const faults = [...declared.faults, ...strayFaults(below), ...readings.flatMap((reading) => reading.faults)];
  const nodes = readings.flatMap(({ value }) => (value === undefined ? [] : [value]));
  return { value: startable(faults) ? nodes : undefined, faults };
}

function readInterceptor(block: ComponentBlock, environment: Environment): Reading<ComponentNode> {
  const setting = block.settings.get("type");
  return readComponent(
    {
      block: { ...block, settings: settingsWithout(block.settings, ["type"], []) },
      type: { kind: "interceptor", key: `${block.key}.type`, setting, line: block.line },
      kernelNames: ["type"],
    },
    environment,
  );
}

function strayFaults(below: Settings): readonly ConfigurationFault[] {
  return [...below]
    .filter(([path]) => !path.includes("."))
    .map(([path, { key, value, line }]) =>
      errorAt({ key, value, line }, `has too few parts; write interceptors.${path}.<property>`),
    );
}
