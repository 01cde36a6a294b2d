import type { Fault } from "./fault.js";
import { warningAt } from "./fault-at.js";
import type { SinkReading } from "./read-sink.js";
import type { SinkGroupReading } from "./read-sink-group.js";

/** A warning for each sink that shares its channel with another one outside a group. */
export function sharedChannels(sinks: readonly SinkReading[], groups: readonly SinkGroupReading[]): readonly Fault[] {
  // Which sinks belong together is not known while a group is at fault.
  if (groups.some(({ value }) => value === undefined)) return [];
  const groupOf = ({ name }: SinkReading) => groups.find((group) => group.sinks?.includes(name));
  return sinks.flatMap((sink, at) => {
    const [channel] = sink.link.channels ?? [];
    const other = sinks.slice(0, at).find((one) => channel !== undefined && one.link.channels?.[0] === channel);
    if (other === undefined || (groupOf(sink) !== undefined && groupOf(sink) === groupOf(other))) return [];
    const fact = `is read by sink "${other.name}" too: each event goes to one of them only`;
    return [warningAt(sink.link.place, `${fact}; give each a channel, or put both in a sink group`)];
  });
}
