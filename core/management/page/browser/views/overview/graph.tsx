import type { ComponentChildren } from "preact";
import type { Group, LetterCounts, Snapshot, Topology } from "../../live/contract.js";
import { many } from "../../parts/format.js";
import { Card } from "./card.js";
import { graphOf, type PlacedCard, type PlacedLine } from "./graph-layout.js";

interface GraphParts {
  readonly topology: Topology;
  readonly snapshot: Snapshot;
  readonly selected: string | undefined;
  readonly onSelect: (id: string) => void;
}

/** Sources, channels and sinks in columns; on a narrow screen below each other, with the links in words. */
export function TopologyGraph({ topology, snapshot, selected, onSelect }: GraphParts) {
  const graph = graphOf(topology);
  const names = new Map(topology.components.map(({ id, name }) => [id, name]));
  const letters = new Map(Object.values(snapshot.dead_letters).map((counts) => [counts.sink, counts]));
  const groupText = (group: Group | undefined) =>
    group === undefined
      ? undefined
      : `in group ${group.name}, ${group.processor.type}${lettersIn(letters.get(group.name))}`;
  const cards = (placed: readonly PlacedCard[]) =>
    placed.map(({ component, top }) => (
      <Card
        key={component.id}
        component={component}
        state={snapshot.components[component.id]}
        letters={lettersOf(component, letters)}
        now={snapshot.time}
        group={groupText(topology.groups.find(({ sinks }) => sinks.includes(component.id)))}
        leadsTo={topology.links
          .filter(({ from }) => from === component.id)
          .map(({ to }) => names.get(to))
          .filter((name) => name !== undefined)}
        top={top}
        selected={component.id === selected}
        onSelect={() => onSelect(component.id)}
      />
    ));
  const column = { height: `${graph.height}px` };
  return (
    <div class="graph">
      <Column title="Sources" count={graph.sources.length}>
        <ul style={column}>{cards(graph.sources)}</ul>
      </Column>
      <Lines lines={graph.fromSources} height={graph.height} snapshot={snapshot} />
      <Column title="Channels" count={graph.channels.length}>
        <ul style={column}>{cards(graph.channels)}</ul>
      </Column>
      <Lines lines={graph.fromChannels} height={graph.height} snapshot={snapshot} />
      <Column title="Sinks" count={graph.sinks.length}>
        <div class="frames" style={column}>
          {graph.frames.map(({ name, processor, top, height }) => (
            <div key={name} class="frame" style={{ top: `${top}px`, height: `${height}px` }}>
              Group {name} · {processor}
              {lettersIn(letters.get(name))}
            </div>
          ))}
          <ul style={column}>{cards(graph.sinks)}</ul>
        </div>
      </Column>
    </div>
  );
}

/** What a group could not store is counted for the group, not for one of its sinks. */
function lettersIn(letters: LetterCounts | undefined): string {
  const waiting = letters?.waiting ?? 0;
  return waiting === 0 ? "" : ` · ${many(waiting, "dead letter")}`;
}

function lettersOf(
  { kind, name }: Topology["components"][number],
  letters: ReadonlyMap<string, LetterCounts>,
): LetterCounts | undefined {
  return kind === "sink" ? letters.get(name) : undefined;
}

interface ColumnParts {
  readonly title: string;
  readonly count: number;
  readonly children: ComponentChildren;
}

function Column({ title, count, children }: ColumnParts) {
  return (
    <section class="column">
      <h3>
        {title} <span class="muted">{count}</span>
      </h3>
      {children}
    </section>
  );
}

interface LinesParts {
  readonly lines: readonly PlacedLine[];
  readonly height: number;
  readonly snapshot: Snapshot;
}

/** The links between two columns; a line is stronger while something moves out of its beginning. */
function Lines({ lines, height, snapshot }: LinesParts) {
  return (
    <svg
      class="lines"
      viewBox={`0 0 100 ${height}`}
      style={{ height: `${height}px` }}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      {lines.map((line) => (
        <path
          key={`${line.from}
${line.to}`}
          class={flowOf(snapshot, line)}
          d={`M0 ${line.start}C50 ${line.start} 50 ${line.end} 100 ${line.end}`}
        />
      ))}
    </svg>
  );
}

/** Whether something moves along a link, by what its end takes; a sink that is down takes nothing. */
function flowOf({ components }: Snapshot, { from, to }: PlacedLine): string {
  const [start, end] = [components[from], components[to]];
  if (end?.health === "down") return "blocked";
  return (start?.accepted_per_second ?? end?.processed_per_second ?? 0) > 0 ? "flowing" : "";
}
