import { type ConfigurationFault, errorAt, warningAt } from "../configuration-fault.js";
import type { sinkSettings } from "../schema/component-properties.js";
import type { Batching } from "../topology.js";
import type { SinkReading } from "./read-sink.js";
import type { SinkGroupReading } from "./read-sink-group.js";

/** What is wrong between the groups of an agent and their sinks. */
export function groupLinkFaults(
  groups: readonly SinkGroupReading[],
  sinks: readonly SinkReading[],
): readonly ConfigurationFault[] {
  return groups.flatMap((group, index) => [
    ...takenFaults(group, groups.slice(0, index)),
    ...channelFaults(group, sinks),
    ...feedingFaults(group, sinks),
  ]);
}

function takenFaults(
  { location, sinks = [] }: SinkGroupReading,
  before: readonly SinkGroupReading[],
): readonly ConfigurationFault[] {
  return [...new Set(sinks)].flatMap((value) => {
    const other = before.find((group) => group.sinks?.includes(value));
    const reason = `is in the group "${other?.name}" already; a sink is in one group at most`;
    return other === undefined ? [] : [errorAt({ ...location, value }, reason)];
  });
}

/** A group takes a batch once, so there is one channel to take it from. */
function channelFaults(
  { location, name, sinks = [] }: SinkGroupReading,
  all: readonly SinkReading[],
): readonly ConfigurationFault[] {
  const read = sinks.flatMap((sink) => {
    const channel = all.find((reading) => reading.name === sink)?.link.channels?.[0];
    return channel === undefined ? [] : [{ sink, channel }];
  });
  if (new Set(read.map(({ channel }) => channel)).size < 2) return [];
  const listed = read.map(({ sink, channel }) => `"${sink}" from "${channel}"`).join(", ");
  return [errorAt(location, `the sinks of group "${name}" read from different channels: ${listed}; give them one`)];
}

/** The settings of the first sink apply to the group; different ones of another sink would be ignored silently. */
function feedingFaults(
  { name, sinks = [] }: SinkGroupReading,
  all: readonly SinkReading[],
): readonly ConfigurationFault[] {
  const members = sinks.flatMap((sink) => all.find((reading) => reading.name === sink) ?? []);
  const [first, ...others] = members;
  if (first?.value === undefined) return [];
  const { batching } = first.value;
  return others.flatMap(({ value, locationOf }) => {
    if (value === undefined) return [];
    const differing = fields.filter(([field]) => String(value.batching[field]) !== String(batching[field]));
    return differing.map(([field, key]) => {
      const rule = `the group "${name}" uses the settings of its first sink: "${first.name}" has ${batching[field]}`;
      return warningAt(locationOf(key), `has no effect: ${rule}; write the same here`);
    });
  });
}

const fields = [
  ["batchSize", "batch_size"],
  ["batchTimeout", "batch_timeout"],
  ["batchLinger", "batch_linger"],
  ["batchTtl", "batch_ttl"],
  ["batchRetryIntervals", "batch_retry_intervals"],
] as const satisfies readonly (readonly [keyof Batching, keyof typeof sinkSettings])[];

/** A warning for each sink that shares its channel with another one outside a group. */
export function sharedChannels(
  sinks: readonly SinkReading[],
  groups: readonly SinkGroupReading[],
): readonly ConfigurationFault[] {
  // Which sinks belong together is unknown while a group has a fault.
  if (groups.some(({ value }) => value === undefined)) return [];
  const groupOf = ({ name }: SinkReading) => groups.find((group) => group.sinks?.includes(name));
  return sinks.flatMap((sink, at) => {
    const [channel] = sink.link.channels ?? [];
    const other = sinks.slice(0, at).find((one) => channel !== undefined && one.link.channels?.[0] === channel);
    if (other === undefined || (groupOf(sink) !== undefined && groupOf(sink) === groupOf(other))) return [];
    const fact = `is read by sink "${other.name}" too: each event goes to one of them only`;
    return [warningAt(sink.link.location, `${fact}; give each a channel, or put both in a sink group`)];
  });
}
