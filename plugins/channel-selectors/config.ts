import type { ConfigOf, PropertyFault, Schema } from "deneb/sdk";

export const replicatingSchema = {
  optional: {
    doc: "Channels of the source that may fail without the notification being refused. All others are required.",
    format: "words",
    default: [],
  },
} as const satisfies Schema;

export const multiplexingSchema = {
  header: {
    doc: "Header of the event whose value decides, for example fiware-service or fiware-servicepath. Its name in any letter case.",
    format: "text",
    default: "flume.selector.header",
  },
  mapping: {
    doc: "`mapping.<value> = <channels>`: the channels of events with exactly this value, separated by blanks or commas.",
    format: "map",
  },
  default: {
    doc: "Channels of events with another value or none. Empty: such events are dropped, and the log says so.",
    format: "words",
    default: [],
  },
  optional: {
    doc: "`optional.<value> = <channels>`: further channels of events with this value, which may fail without the notification being refused.",
    format: "map",
    default: {},
  },
} as const satisfies Schema;

export const roundRobinSchema = {
  storages: {
    doc: "Number of storages. Each gets every event once, by one of its channels.",
    format: "count",
    min: 1,
    default: 1,
  },
  "storages.*": {
    doc: "`storages.storage1 = <channels>` up to the number of storages: the channels that take turns for this storage, separated by blanks or commas.",
    format: "map",
    default: {},
  },
} as const satisfies Schema;

export const loadBalancingSchema = {
  policy: {
    doc: "Which channel gets the next event: the next one of the list, or any.",
    format: ["round_robin", "random"],
    default: "round_robin",
  },
} as const satisfies Schema;

export type ReplicatingConfig = ConfigOf<typeof replicatingSchema>;
export type MultiplexingConfig = ConfigOf<typeof multiplexingSchema>;
export type RoundRobinConfig = ConfigOf<typeof roundRobinSchema>;
export type LoadBalancingConfig = ConfigOf<typeof loadBalancingSchema>;

export function checkReplicating(
  { optional }: ReplicatingConfig,
  channels?: readonly string[],
): readonly PropertyFault<typeof replicatingSchema>[] {
  return strangers(optional, channels).map((reason) => ({ property: "optional", reason }));
}

export function checkMultiplexing(
  config: MultiplexingConfig,
  channels?: readonly string[],
): readonly PropertyFault<typeof multiplexingSchema>[] {
  const maps = ["mapping", "optional"] as const;
  return [
    ...(config.header === "" ? [{ property: "header", reason: "must be the name of a header" } as const] : []),
    ...maps.flatMap((map) =>
      Object.entries(config[map]).flatMap(([value, list]) =>
        listFaults(list, channels).map((reason) => ({ property: `${map}.${value}` as const, reason })),
      ),
    ),
    ...strangers(config.default, channels).map((reason) => ({ property: "default", reason }) as const),
  ];
}

export function checkRoundRobin(
  { storages, "storages.*": lists }: RoundRobinConfig,
  channels?: readonly string[],
): readonly PropertyFault<typeof roundRobinSchema>[] {
  if (storages > mostStorages) return [{ property: "storages", reason: `must be ${mostStorages} or less` }];
  const names = Array.from({ length: storages }, (_, index) => `storage${index + 1}`);
  return [
    ...names
      .filter((name) => lists[name] === undefined)
      .map((name) => ({
        property: `storages.${name}` as const,
        reason: "must be given: the channels of this storage",
      })),
    ...Object.entries(lists).flatMap(([name, list]) => {
      const property = `storages.${name}` as const;
      if (!names.includes(name)) return [{ property, reason: `is no storage: there are ${storages}, ${range(names)}` }];
      return listFaults(list, channels).map((reason) => ({ property, reason }));
    }),
  ];
}

const mostStorages = 100;

function range(names: readonly string[]): string {
  return [...new Set([names[0], names.at(-1)])].join(" to ");
}

function listFaults(list: string, channels: readonly string[] | undefined): readonly string[] {
  const named = channelsOf(list);
  return named.length === 0 ? ["must name at least one channel"] : strangers(named, channels);
}

/** Faults of names that are not channels of the source; none while its channels are not known. */
function strangers(named: readonly string[], channels: readonly string[] | undefined): readonly string[] {
  if (channels === undefined) return [];
  return [...new Set(named)]
    .filter((name) => !channels.includes(name))
    .map((name) => `"${name}" is not a channel of the source; its channels are: ${channels.join(", ")}`);
}

/** The channels of a list separated by blanks or commas, each once. */
export function channelsOf(list: string): readonly string[] {
  return [...new Set(list.split(/[\s,]+/).filter((name) => name !== ""))];
}
