import { isDeepStrictEqual } from "node:util";
import { type ComparableSetting, comparableSettings, type ShownValue } from "../../configuration/shown-settings.js";
import type { ComponentNode, SinkGroupNode, SinkNode, SourceNode, Topology } from "../../configuration/topology.js";
import type { Assembly } from "../component.js";
import { keptComponents } from "../kept-components.js";
import { idOf, kernelSettingsOfGroup, kernelSettingsOfSink } from "./topology-view.js";

/** One setting that differs; absent on the side where it is not set. */
interface SettingChange {
  readonly setting: string;
  readonly old?: ShownValue;
  readonly new?: ShownValue;
  readonly masked?: true;
}

/** What separates the running configuration from another one. Components are named by kind and name. */
interface ConfigurationDifference {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly { readonly id: string; readonly changes: readonly SettingChange[] }[];
  /** What a reload would do; replaced are also those that do not differ, but a channel or another sink of their group does. */
  readonly reload: {
    readonly replaced: readonly string[];
    readonly started: readonly string[];
    readonly stopped: readonly string[];
    readonly kept: readonly string[];
  };
}

export function configurationDifference(running: Assembly, topology: Topology): ConfigurationDifference {
  const before = describedAssembly(running);
  const after = describedTopology(topology);
  const kept = keptComponents(topology, running);
  const keptIds = new Set([
    ...[...kept.sources.keys()].map((name) => idOf("source", name)),
    ...[...kept.channels.keys()].map((name) => idOf("channel", name)),
    ...[...kept.sinks.keys()].map((name) => idOf("sink", name)),
  ]);
  const added = [...after.keys()].filter((id) => !before.has(id));
  const removed = [...before.keys()].filter((id) => !after.has(id));
  const isComponent = (id: string) => !id.startsWith("group:");
  const both = [...after.keys()].filter((id) => before.has(id));
  return {
    added,
    removed,
    changed: both.flatMap((id) => {
      const changes = changesBetween(before.get(id) ?? [], after.get(id) ?? []);
      return changes.length === 0 ? [] : [{ id, changes }];
    }),
    reload: {
      replaced: both.filter((id) => isComponent(id) && !keptIds.has(id)),
      started: added.filter(isComponent),
      stopped: removed.filter(isComponent),
      kept: both.filter((id) => keptIds.has(id)),
    },
  };
}

type Described = ReadonlyMap<string, readonly ComparableSetting[]>;

function describedAssembly({ sources, channels, sinks }: Assembly): Described {
  const groups = new Map(sinks.flatMap(({ group }) => (group === undefined ? [] : [[group.name, group] as const])));
  return described({
    sources: sources.map(({ node }) => node),
    channels: channels.map(({ node }) => node),
    sinks: sinks.map(({ node }) => node),
    groups: [...groups.values()],
  });
}

function describedTopology({ sources, channels, sinks, groups = [] }: Topology): Described {
  return described({ sources, channels, sinks, groups });
}

type Nodes = Required<Omit<Topology, "agent" | "workers">>;

function described({ sources, channels, sinks, groups }: Nodes): Described {
  return new Map([
    ...sources.map((node) => [idOf("source", node.name), ofSource(node)] as const),
    ...channels.map((node) => [idOf("channel", node.name), ofNode(node)] as const),
    ...sinks.map((node) => [idOf("sink", node.name), ofSink(node)] as const),
    ...groups.map((group) => [idOf("group", group.name), ofGroup(group)] as const),
  ]);
}

function ofSource(node: SourceNode): readonly ComparableSetting[] {
  return [
    fact("channels", node.channels),
    ...ofNode(node),
    fact(
      "interceptors",
      node.interceptors.map(({ name }) => name),
    ),
    ...node.interceptors.flatMap((one) => below(`interceptors.${one.name}`, one)),
    ...below("selector", node.selector),
  ];
}

function ofSink({ channel, batching, ...node }: SinkNode): readonly ComparableSetting[] {
  return [fact("channel", channel), ...kernelSettingsOfSink(batching), ...ofNode(node)];
}

function ofGroup(group: SinkGroupNode): readonly ComparableSetting[] {
  return [fact("sinks", group.sinks), ...kernelSettingsOfGroup(group), ...below("processor", group.processor)];
}

function ofNode({ definition, config, slots }: ComponentNode): readonly ComparableSetting[] {
  return [
    fact("type", definition.type),
    ...comparableSettings(definition.config, config),
    ...Object.entries(slots).flatMap(([slot, node]) => below(slot, node)),
  ];
}

function below(place: string, node: ComponentNode): readonly ComparableSetting[] {
  return ofNode(node).map(({ shown, ...one }) => ({ ...one, shown: { ...shown, name: `${place}.${shown.name}` } }));
}

function fact(name: string, value: string | readonly string[]): ComparableSetting {
  return { shown: { name, value, default: false }, value };
}

function changesBetween(
  before: readonly ComparableSetting[],
  after: readonly ComparableSetting[],
): readonly SettingChange[] {
  const old = new Map(before.map((setting) => [setting.shown.name, setting]));
  const next = new Map(after.map((setting) => [setting.shown.name, setting]));
  return [...new Set([...old.keys(), ...next.keys()])].flatMap((setting) => {
    const [from, to] = [old.get(setting), next.get(setting)];
    if (isDeepStrictEqual(from?.value, to?.value)) return [];
    const isMasked = from?.shown.masked === true || to?.shown.masked === true;
    return [
      {
        setting,
        ...(from === undefined ? {} : { old: from.shown.value }),
        ...(to === undefined ? {} : { new: to.shown.value }),
        ...(isMasked ? { masked: true as const } : {}),
      },
    ];
  });
}
