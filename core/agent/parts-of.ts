import type { ComponentNode } from "../configuration/topology.js";
import type { AnyPlugin } from "../sdk/index.js";
import { type Assembly, atPath, type Running } from "./component.js";
import type { ReportedHealth } from "./reported-health.js";

/** A component of the file, nested ones included, and where it reports to. */
export interface Part {
  readonly name: string;
  readonly definition: AnyPlugin;
  readonly config: ComponentNode["config"];
  readonly reported: ReportedHealth;
  /** Ends the calls that are made of it, with an error. */
  readonly abandon?: (error: unknown) => void;
}

/** All components, those included that are nested in others. */
export function partsOf({ sources, channels, sinks }: Assembly): readonly Part[] {
  const part = ({ name, definition, config }: ComponentNode, { reported }: Running) => ({
    name,
    definition,
    config,
    reported,
  });
  return [
    ...sources.flatMap((running) => {
      const { node } = running;
      const own = [...node.interceptors, node.selector].map((one) => atPath(node.name, one));
      return [node, ...own, ...nestedIn(node)].map((one) => part(one, running));
    }),
    ...channels.map((running) => part(running.node, running)),
    ...sinks.flatMap((running): readonly Part[] => {
      const { node, group, groupReported: reported } = running;
      const isFirst = sinks.find((one) => one.groupReported === reported) === running;
      const processor =
        group === undefined || reported === undefined || !isFirst
          ? []
          : [{ ...group.processor, name: group.name, reported }];
      return [{ ...part(node, running), abandon: (error) => running.sink.abandon(error) }, ...processor];
    }),
  ];
}

function nestedIn({ name, slots }: ComponentNode): readonly ComponentNode[] {
  return Object.values(slots)
    .map((node) => atPath(name, node))
    .flatMap((node) => [node, ...nestedIn(node)]);
}
