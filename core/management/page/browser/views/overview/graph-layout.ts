import type { Component, Topology } from "../../live/contract.js";

export interface PlacedCard {
  readonly component: Component;
  /** Pixels from the top of the graph. */
  readonly top: number;
}

/** The frame around the sinks of a group. */
interface PlacedFrame {
  readonly name: string;
  readonly processor: string;
  readonly top: number;
  readonly height: number;
}

export interface PlacedLine {
  readonly from: string;
  readonly to: string;
  readonly start: number;
  readonly end: number;
}

/** Cards in three columns, and the lines in the two gaps between them. */
interface Graph {
  readonly sources: readonly PlacedCard[];
  readonly channels: readonly PlacedCard[];
  readonly sinks: readonly PlacedCard[];
  readonly frames: readonly PlacedFrame[];
  readonly fromSources: readonly PlacedLine[];
  readonly fromChannels: readonly PlacedLine[];
  readonly height: number;
}

export const cardHeight = 116;
const gap = 16;
const frameTitle = 28;

/**
 * Places the components: sources in the order of the file, what follows beside what it is linked with, so that lines cross
 * as little as a single pass can do. The sinks of a group stand together.
 */
export function graphOf({ components, links, groups }: Pick<Topology, "components" | "links" | "groups">): Graph {
  const before = linkedWith(links.map(({ from, to }) => ({ one: to, other: from })));
  const sources = components.filter(({ kind }) => kind === "source");
  const channels = orderedBeside(byKind(components, "channel"), sources, before);
  const blocks = blocksOf(orderedBeside(byKind(components, "sink"), channels, before), groups);
  const heights = [columnHeight(sources.length), columnHeight(channels.length), sinkHeight(blocks)];
  const height = Math.max(cardHeight, ...heights);
  const placedSources = column(sources, height);
  const placedChannels = column(channels, height);
  const { cards: placedSinks, frames } = sinkColumn(blocks, height);
  const middles = new Map(
    [...placedSources, ...placedChannels, ...placedSinks].map(({ component, top }) => [
      component.id,
      top + cardHeight / 2,
    ]),
  );
  const lines = (starts: readonly PlacedCard[]) => {
    const ids = new Set(starts.map(({ component }) => component.id));
    return links
      .filter(({ from }) => ids.has(from))
      .flatMap(({ from, to }) => {
        const [start, end] = [middles.get(from), middles.get(to)];
        return start === undefined || end === undefined ? [] : [{ from, to, start, end }];
      });
  };
  return {
    sources: placedSources,
    channels: placedChannels,
    sinks: placedSinks,
    frames,
    fromSources: lines(placedSources),
    fromChannels: lines(placedChannels),
    height,
  };
}

function byKind(components: readonly Component[], kind: Component["kind"]): readonly Component[] {
  return components.filter((component) => component.kind === kind);
}

/** For each id those that it is linked with. */
function linkedWith(
  pairs: readonly { readonly one: string; readonly other: string }[],
): ReadonlyMap<string, readonly string[]> {
  const linked = new Map<string, string[]>();
  for (const { one, other } of pairs) {
    const others = linked.get(one);
    if (others === undefined) linked.set(one, [other]);
    else others.push(other);
  }
  return linked;
}

/** By the mean position of what leads to each; what nothing leads to comes last. */
function orderedBeside(
  components: readonly Component[],
  neighbors: readonly Component[],
  before: ReadonlyMap<string, readonly string[]>,
): readonly Component[] {
  const positions = new Map(neighbors.map(({ id }, index) => [id, index]));
  const mean = ({ id }: Component) => {
    const found = (before.get(id) ?? []).map((other) => positions.get(other)).filter((one) => one !== undefined);
    return found.length === 0 ? Number.MAX_SAFE_INTEGER : found.reduce((sum, one) => sum + one, 0) / found.length;
  };
  const means = new Map(components.map((component) => [component.id, mean(component)]));
  return [...components].sort((one, other) => (means.get(one.id) ?? 0) - (means.get(other.id) ?? 0));
}

interface Block {
  readonly sinks: readonly Component[];
  readonly group?: Topology["groups"][number];
}

/** Sinks one by one, those of a group together where the first of them stands. */
function blocksOf(sinks: readonly Component[], groups: Topology["groups"]): readonly Block[] {
  const groupOf = new Map(groups.flatMap((group) => group.sinks.map((id) => [id, group] as const)));
  const blocks = new Map<string, Block>();
  for (const sink of sinks) {
    const group = groupOf.get(sink.id);
    if (group === undefined) blocks.set(sink.id, { sinks: [sink] });
    else blocks.set(group.id, { group, sinks: [...(blocks.get(group.id)?.sinks ?? []), sink] });
  }
  return [...blocks.values()];
}

function columnHeight(cards: number): number {
  return Math.max(0, cards * (cardHeight + gap) - gap);
}

function blockHeight({ sinks, group }: Block): number {
  return columnHeight(sinks.length) + (group === undefined ? 0 : frameTitle + gap);
}

function sinkHeight(blocks: readonly Block[]): number {
  return Math.max(0, blocks.reduce((sum, block) => sum + blockHeight(block) + gap, 0) - gap);
}

/** In the middle of the height. */
function column(components: readonly Component[], height: number): readonly PlacedCard[] {
  const start = (height - columnHeight(components.length)) / 2;
  return components.map((component, index) => ({ component, top: start + index * (cardHeight + gap) }));
}

function sinkColumn(blocks: readonly Block[], height: number) {
  const cards: PlacedCard[] = [];
  const frames: PlacedFrame[] = [];
  let top = (height - sinkHeight(blocks)) / 2;
  for (const block of blocks) {
    const { sinks, group } = block;
    if (group !== undefined) {
      frames.push({ name: group.name, processor: group.processor.type, top, height: blockHeight(block) });
    }
    const first = top + (group === undefined ? 0 : frameTitle);
    sinks.forEach((component, index) => {
      cards.push({ component, top: first + index * (cardHeight + gap) });
    });
    top += blockHeight(block) + gap;
  }
  return { cards, frames };
}
