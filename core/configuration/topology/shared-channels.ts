import { type ConfigurationFault, errorAt, warningAt } from "../configuration-fault.js";
import type { ComponentNode } from "../topology.js";
import type { SinkReading } from "./read-sink.js";
import type { SinkGroupReading } from "./read-sink-group.js";

/** A fault for each sink that shares its channel with another one outside a group: an error where the channel has one taker. */
export function sharedChannels(
  sinks: readonly SinkReading[],
  groups: readonly SinkGroupReading[],
  channels: readonly ComponentNode[],
): readonly ConfigurationFault[] {
  // Which sinks belong together is unknown while a group has a fault.
  if (groups.some(({ value }) => value === undefined)) return [];
  const groupOf = ({ name }: SinkReading) => groups.find((group) => group.sinks?.includes(name));
  return sinks.flatMap((sink, at) => {
    const [channel] = sink.link.channels ?? [];
    const other = sinks.slice(0, at).find((one) => channel !== undefined && one.link.channels?.[0] === channel);
    if (other === undefined || (groupOf(sink) !== undefined && groupOf(sink) === groupOf(other))) return [];
    const definition = channels.find(({ name }) => name === channel)?.definition;
    if (definition?.takers === "one") {
      const fact = `is read by sink "${other.name}" too, and a channel of type ${definition.type} has one position`;
      const remedy = "give each further sink a channel of its own over the same log with another group";
      return [errorAt(sink.link.location, `${fact}: ${remedy}, or put both in a sink group`)];
    }
    const fact = `is read by sink "${other.name}" too: each event goes to one of them only`;
    return [warningAt(sink.link.location, `${fact}; give each a channel, or put both in a sink group`)];
  });
}
