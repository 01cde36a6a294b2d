import type { AgentConfiguration, ComponentValues, ConfigurationValue } from "../../embedded/agent-configuration.js";
import type { AnyPlugin } from "../../sdk/index.js";

/** Name of the component that is the plugin. */
const pluginName = "plugin";

/** An agent of the usual components with the plugin in its place; `keep` is the sink that shows what reaches it. */
export function devConfiguration(plugin: AnyPlugin, values: ComponentValues, port: number): AgentConfiguration {
  const own = { type: plugin.type, ...values };
  const web = { type: "http", bind: "127.0.0.1", port, handler: usualHandler };
  switch (plugin.kind) {
    case "source":
      return { sources: { [pluginName]: { ...own, ...handlers(plugin, values) } } };
    case "handler":
      return { sources: { web: { ...web, handler: own } } };
    case "interceptor":
      return { sources: { web: { ...web, interceptors: { [pluginName]: own } } } };
    case "selector":
      return {
        sources: { web: { ...web, selector: own } },
        channels: { one: { type: "memory" }, two: { type: "memory" } },
      };
    case "channel":
      return { sources: { web }, channels: { [pluginName]: own } };
    case "sink":
      return { sources: { web }, sinks: { [pluginName]: own } };
    case "sink-processor":
      return {
        sources: { web },
        sinks: { first: { type: "keep" }, second: { type: "keep" } },
        sinkgroups: { [pluginName]: { sinks: ["first", "second"], processor: own } },
      };
  }
}

const usualHandler = { type: "ngsi", ngsi_version: "auto" } as const;

/** The ngsi handler in every slot for one. */
function handlers({ slots = {} }: AnyPlugin, values: ComponentValues): ComponentValues {
  const empty = Object.entries(slots).filter(([slot, kind]) => kind === "handler" && values[slot] === undefined);
  return Object.fromEntries(empty.map(([slot]) => [slot, slot === "handler" ? usualHandler : "ngsi"]));
}

/** Typed values of a conformance setup as a configuration writes them; what has no such form is left out. */
export function writtenValues(values: Readonly<Record<string, unknown>>): ComponentValues {
  const written = Object.entries(values).map(([name, value]) => [name, writtenValue(value)] as const);
  return Object.fromEntries(written.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const])));
}

function writtenValue(value: unknown): ConfigurationValue | undefined {
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return value;
  if (Array.isArray(value)) return value.map(String);
  return typeof value === "object" && value !== null ? writtenValues({ ...value }) : undefined;
}
