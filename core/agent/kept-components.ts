import { isDeepStrictEqual } from "node:util";
import type { ComponentNode, SinkNode, Topology } from "../configuration/topology.js";
import type { Assembly, RunningChannel, RunningSink, RunningSource } from "./component.js";

/** Components that run and go on as they are when the agent goes to another topology, by name. */
export interface KeptComponents {
  readonly channels: ReadonlyMap<string, RunningChannel>;
  readonly sources: ReadonlyMap<string, RunningSource>;
  readonly sinks: ReadonlyMap<string, RunningSink>;
}

/**
 * Kept is what both describe in the same way and whose channels are kept. A group is kept only as a whole: its sinks have
 * one loop.
 */
export function keptComponents(topology: Topology, previous: Assembly): KeptComponents {
  const { groups = [], ...nodes } = topology;
  const channels = byName(nodes.channels.flatMap((node) => sameOf(previous.channels, node) ?? []));
  const stays = (channel: string) => channels.has(channel);
  const sources = nodes.sources.flatMap((node) =>
    node.channels.every(stays) ? (sameOf(previous.sources, node) ?? []) : [],
  );
  const groupOf = new Map(groups.flatMap((group) => group.sinks.map((name) => [name, group] as const)));
  const same = byName(
    nodes.sinks.flatMap((node: SinkNode) => {
      const running = stays(node.channel) ? sameOf(previous.sinks, node) : undefined;
      return running !== undefined && isDeepStrictEqual(running.group, groupOf.get(node.name)) ? running : [];
    }),
  );
  const isWhole = (name: string) => groupOf.get(name)?.sinks.every((member) => same.has(member)) ?? true;
  return {
    channels,
    sources: byName(sources),
    sinks: new Map([...same].filter(([name]) => isWhole(name))),
  };
}

function sameOf<R extends { readonly name: string; readonly node: ComponentNode }>(
  previous: readonly R[],
  node: ComponentNode,
): R | undefined {
  const running = previous.find(({ name }) => name === node.name);
  return running !== undefined && isDeepStrictEqual(running.node, node) ? running : undefined;
}

function byName<R extends { readonly name: string }>(all: readonly R[]): ReadonlyMap<string, R> {
  return new Map(all.map((one) => [one.name, one]));
}
