import type { Component, ComponentState, Topology } from "../../live/contract.js";

export interface Choice {
  /** Part of a name or type, any letter case; empty for all. */
  readonly text: string;
  /** Only components that are not up. */
  readonly troubled: boolean;
}

type States = Readonly<Record<string, ComponentState>>;

/** Cards that a column of the graph has at most, so that an agent of a thousand components can be drawn. */
export const mostCards = 24;

/** The components that a reader looks for, those in trouble first, else in the order of the file. */
export function found(components: readonly Component[], states: States, { text, troubled }: Choice) {
  const part = text.trim().toLowerCase();
  const rank = ({ id }: Component) => ranks[states[id]?.health ?? "up"];
  return components
    .filter(({ name, type, kind }) => `${kind} ${name} ${type}`.toLowerCase().includes(part))
    .filter((component) => !troubled || rank(component) < ranks.up)
    .sort((one, other) => rank(one) - rank(other));
}

const ranks = { down: 0, degraded: 1, up: 2 } as const;

/** The part of a topology that is drawn: what was found, and what it is linked with, as many as fit. */
export function drawn(topology: Topology, components: readonly Component[]): Topology {
  const all = new Map(topology.components.map((component) => [component.id, component]));
  const neighbors = neighborsOf(topology);
  const room = { source: mostCards, channel: mostCards, sink: mostCards };
  const chosen = new Set<string>();
  const add = (id: string): boolean => {
    const component = all.get(id);
    if (component === undefined || chosen.has(id) || room[component.kind] === 0) return false;
    room[component.kind] -= 1;
    chosen.add(id);
    return true;
  };
  for (const { id } of components) {
    if (Object.values(room).every((left) => left === 0)) break;
    if (!add(id) && !chosen.has(id)) continue;
    // A sink is two links away from its sources.
    const near = neighbors.get(id) ?? [];
    for (const other of [...near, ...near.flatMap((one) => neighbors.get(one) ?? [])]) add(other);
  }
  return {
    ...topology,
    components: topology.components.filter(({ id }) => chosen.has(id)),
    links: topology.links.filter(({ from, to }) => chosen.has(from) && chosen.has(to)),
  };
}

function neighborsOf({ links }: Topology): ReadonlyMap<string, readonly string[]> {
  const near = new Map<string, string[]>();
  const note = (one: string, other: string) => near.set(one, [...(near.get(one) ?? []), other]);
  for (const { from, to } of links) {
    note(from, to);
    note(to, from);
  }
  return near;
}
