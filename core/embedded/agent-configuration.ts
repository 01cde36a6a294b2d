import { withProperty } from "../configuration/file/edited-properties.js";

/**
 * A value of a property as a properties file writes it; a list is joined by blanks, an object holds properties below.
 * @beta
 */
export type ConfigurationValue = string | number | boolean | readonly (string | number)[] | ComponentValues;

/** Properties of a component. `handler` and each of the `interceptors` may be an object with its `type`. @beta */
export interface ComponentValues {
  readonly [property: string]: ConfigurationValue;
}

/**
 * Components by name, as in a properties file. What is absent is added: a source `inject` with the handler `ngsi` for both
 * NGSI-LD and v2, a memory channel, and for each channel without a sink one of its name that keeps its events in memory.
 * @beta
 */
export interface AgentConfiguration {
  readonly sources?: Components;
  readonly channels?: Components;
  readonly sinks?: Components;
  readonly sinkgroups?: Components;
}

type Components = Readonly<Record<string, ComponentValues>>;

/** Name of the agent in the text of its properties file. */
const agent = "agent";

/** The configuration as the text of a properties file. */
export function propertiesText(configuration: AgentConfiguration): string {
  const { sources, channels, sinks, sinkgroups } = completed(configuration);
  const sections = Object.entries({ sources, channels, sinks, sinkgroups });
  const pairs = sections.flatMap(([section, components]) => {
    const names = Object.keys(components);
    if (names.length === 0) return [];
    return [
      [`${agent}.${section}`, names.join(" ")] as const,
      ...Object.entries(components).flatMap(([name, values]) => pairsOf(`${agent}.${section}.${name}`, values)),
    ];
  });
  return pairs.reduce((text, [key, value]) => withProperty(text, key, value), "");
}

function completed({ sources, channels, sinks, sinkgroups = {} }: AgentConfiguration): Required<AgentConfiguration> {
  const allChannels: Components = channels ?? { memory: { type: "memory" } };
  const names = Object.keys(allChannels);
  const linked = mapped(sinks ?? {}, (values) => ({ channel: names[0] ?? "", ...values }));
  const read = new Set(Object.values(linked).map(({ channel }) => channel));
  const keeping: Components = Object.fromEntries(
    names.filter((name) => !read.has(name)).map((name) => [name, { type: "keep", channel: name }]),
  );
  return {
    sources: mapped(sources ?? { inject: {} }, (values) => ({ channels: names, ...withHandler(values) })),
    channels: allChannels,
    sinks: { ...keeping, ...linked },
    sinkgroups,
  };
}

function mapped(components: Components, change: (values: ComponentValues) => ComponentValues): Components {
  return Object.fromEntries(Object.entries(components).map(([name, values]) => [name, change(values)]));
}

function withHandler(values: ComponentValues): ComponentValues {
  if (values["type"] !== undefined && values["type"] !== "inject") return values;
  return { type: "inject", ...("handler" in values ? {} : { handler: forAllVersions }), ...values };
}

const forAllVersions = { type: "ngsi", ngsi_version: "auto" } as const;

type Pair = readonly [key: string, value: string];

function pairsOf(key: string, values: ComponentValues): readonly Pair[] {
  return Object.entries(values).flatMap(([name, value]) => {
    const path = `${key}.${name}`;
    if (!isObject(value)) return [[path, [value].flat().join(" ")] as const];
    if (name === "handler") return slotPairs(path, value);
    if (name === "interceptors") return [[path, Object.keys(value).join(" ")] as const, ...pairsOf(path, value)];
    return pairsOf(path, value);
  });
}

/** A slot is filled by the type itself; its properties are below it. */
function slotPairs(path: string, { type, ...values }: ComponentValues): readonly Pair[] {
  return [[path, String(type)], ...pairsOf(path, values)];
}

function isObject(value: ConfigurationValue): value is ComponentValues {
  return typeof value === "object" && !Array.isArray(value);
}
