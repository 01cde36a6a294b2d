import { sinkGroupSettings, sinkSettings } from "../../configuration/schema/component-properties.js";
import {
  type ComparableSetting,
  comparableSettings,
  type ShownSetting,
  shownSettings,
} from "../../configuration/shown-settings.js";
import { batchingProperties } from "../../configuration/topology/read-sink.js";
import type { Batching, ComponentNode, SinkGroupNode, SinkNode, SourceNode } from "../../configuration/topology.js";
import type { AnyPlugin } from "../../sdk/index.js";
import { capacityOf } from "../channel-room.js";
import type { Assembly } from "../component.js";

/** A component as it is configured, with what is nested in it. */
interface ComponentView {
  readonly kind: string;
  readonly name: string;
  readonly type: string;
  readonly plugin: { readonly origin: string; readonly stability: string };
  readonly settings: readonly ShownSetting[];
  readonly nested: readonly NestedView[];
}

interface NestedView extends ComponentView {
  /** Where it stands in its owner: the name of a slot, `interceptors` or `selector`. */
  readonly slot: string;
}

interface TopLevelView extends ComponentView {
  readonly id: string;
  /** Of a channel: whether it keeps its events over a restart, and the most events. */
  readonly durable?: boolean;
  readonly capacity?: number;
}

export interface TopologyView {
  readonly agent: string;
  readonly revision: number;
  readonly components: readonly TopLevelView[];
  readonly links: readonly { readonly from: string; readonly to: string }[];
  readonly groups: readonly {
    readonly id: string;
    readonly name: string;
    readonly sinks: readonly string[];
    readonly settings: readonly ShownSetting[];
    readonly processor: NestedView;
  }[];
}

interface TopologyViewParts {
  readonly agent: string;
  readonly revision: number;
  /** Where a plugin comes from, for people. */
  readonly originOf: (definition: AnyPlugin) => string;
}

/** A component of the first level by kind and name, as the views of an agent name it. */
export function idOf(kind: "source" | "channel" | "sink" | "group", name: string): string {
  return `${kind}:${name}`;
}

/** The components of a running configuration and how they are linked; no secret is in it. */
export function topologyView({ sources, channels, sinks }: Assembly, parts: TopologyViewParts): TopologyView {
  const { agent, revision, originOf } = parts;
  const groups = [
    ...new Map(sinks.flatMap(({ group }) => (group === undefined ? [] : [[group.name, group]]))).values(),
  ];
  const view = (node: ComponentNode, own: Partial<ComponentView> = {}) => ({
    ...componentView(node, originOf),
    ...own,
  });
  return {
    agent,
    revision,
    components: [
      ...sources.map(({ node }) => ({
        id: idOf("source", node.name),
        ...view(node, { nested: nestedOfSource(node, originOf) }),
      })),
      ...channels.map(({ node, channel }) => ({
        id: idOf("channel", node.name),
        ...view(node),
        durable: channel.durable,
        ...(capacityOf(node) === undefined ? {} : { capacity: capacityOf(node) ?? 0 }),
      })),
      ...sinks.map(({ node }) => ({
        id: idOf("sink", node.name),
        ...view(node, { settings: settingsOfSink(node) }),
      })),
    ],
    links: [
      ...sources.flatMap(({ node }) =>
        node.channels.map((channel) => ({ from: idOf("source", node.name), to: idOf("channel", channel) })),
      ),
      ...sinks.map(({ node }) => ({ from: idOf("channel", node.channel), to: idOf("sink", node.name) })),
    ],
    groups: groups.map((group) => ({
      id: idOf("group", group.name),
      name: group.name,
      sinks: group.sinks.map((sink) => idOf("sink", sink)),
      settings: settingsOfGroup(group),
      processor: { slot: "processor", ...componentView(group.processor, originOf) },
    })),
  };
}

type OriginOf = TopologyViewParts["originOf"];

function componentView({ name, definition, config, slots }: ComponentNode, originOf: OriginOf): ComponentView {
  const { kind, type, stability } = definition;
  return {
    kind,
    name,
    type,
    plugin: { origin: originOf(definition), stability },
    settings: shownSettings(definition.config, config),
    nested: Object.entries(slots).map(([slot, node]) => ({ slot, ...componentView(node, originOf) })),
  };
}

function nestedOfSource(node: SourceNode, originOf: OriginOf): readonly NestedView[] {
  return [
    ...componentView(node, originOf).nested,
    ...node.interceptors.map((one) => ({ slot: "interceptors", ...componentView(one, originOf) })),
    { slot: "selector", ...componentView(node.selector, originOf) },
  ];
}

/** What the kernel reads of a sink stands before what its plugin reads. */
function settingsOfSink({ definition, config, batching }: SinkNode): readonly ShownSetting[] {
  return [...kernelSettingsOfSink(batching).map(({ shown }) => shown), ...shownSettings(definition.config, config)];
}

export function kernelSettingsOfSink(batching: Batching): readonly ComparableSetting[] {
  const { channel: _link, ...schema } = sinkSettings;
  const values = batchingProperties.map(([member, name]) => [name, batching[member] ?? schema[name].default]);
  return comparableSettings(schema, Object.fromEntries(values));
}

function settingsOfGroup(group: SinkGroupNode): readonly ShownSetting[] {
  return kernelSettingsOfGroup(group).map(({ shown }) => shown);
}

export function kernelSettingsOfGroup({ positionsTimeout }: SinkGroupNode): readonly ComparableSetting[] {
  const { sinks: _link, ...schema } = sinkGroupSettings;
  return comparableSettings(schema, { positions_timeout: positionsTimeout });
}
