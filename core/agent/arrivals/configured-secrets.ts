import { comparableSettings } from "../../configuration/shown-settings.js";
import { nodesOf } from "../../configuration/topology.js";
import type { Assembly } from "../component.js";

/** A shorter one would mask what is no secret. */
const SHORTEST = 4;
const MOST = 1000;

/** The secrets of a running configuration, as texts. */
export function configuredSecrets({ sources, channels, sinks }: Assembly): ReadonlySet<string> {
  const nodes = nodesOf({
    sources: sources.map(({ node }) => node),
    channels: channels.map(({ node }) => node),
    sinks: sinks.map(({ node }) => node),
    groups: sinks.flatMap(({ group }) => group ?? []),
  });
  const texts = nodes.flatMap(({ definition, config }) =>
    comparableSettings(definition.config, config)
      .filter(({ shown }) => shown.masked === true)
      .flatMap(({ value }) => textsIn(value)),
  );
  return new Set(texts.filter((text) => text.length >= SHORTEST).slice(0, MOST));
}

/** The texts of a value, and of what it holds. */
export function textsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}
