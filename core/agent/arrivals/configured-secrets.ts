import { comparableSettings } from "../../configuration/shown-settings.js";
import type { ComponentNode } from "../../configuration/topology.js";
import type { Assembly } from "../component.js";

/** A shorter one would mask what is no secret. */
const SHORTEST = 4;
const MOST = 1000;

/** The secrets of a running configuration, as texts. */
export function configuredSecrets({ sources, channels, sinks }: Assembly): ReadonlySet<string> {
  const nodes: readonly ComponentNode[] = [
    ...sources.flatMap(({ node }) => [node, ...node.interceptors, node.selector]),
    ...channels.map(({ node }) => node),
    ...sinks.flatMap(({ node, group }) => (group === undefined ? [node] : [node, group.processor])),
  ];
  const texts = nodes.flatMap(nested).flatMap(({ definition, config }) =>
    comparableSettings(definition.config, config)
      .filter(({ shown }) => shown.masked === true)
      .flatMap(({ value }) => textsIn(value)),
  );
  return new Set(texts.filter((text) => text.length >= SHORTEST).slice(0, MOST));
}

function nested(node: ComponentNode): readonly ComponentNode[] {
  return [node, ...Object.values(node.slots).flatMap(nested)];
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}
