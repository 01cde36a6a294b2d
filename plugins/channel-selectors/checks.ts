import type { PropertyFault } from "deneb/sdk";
import { channelsOf } from "./channels-of.js";
import type {
  MultiplexingConfig,
  multiplexingSchema,
  ReplicatingConfig,
  RoundRobinConfig,
  replicatingSchema,
  roundRobinSchema,
} from "./config.js";

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
  const names = Array.from({ length: Math.min(storages, mostStorages) }, (_, index) => `storage${index + 1}`);
  const tooMany = [{ property: "storages", reason: `must be ${mostStorages} or less` }] as const;
  return [
    ...(storages > mostStorages ? tooMany : []),
    ...names
      .filter((name) => lists[name] === undefined)
      .map((name) => ({
        property: `storages.${name}` as const,
        reason: "must be given: the channels of this storage",
      })),
    ...Object.entries(lists).flatMap(([name, list]) => {
      const property = `storages.${name}` as const;
      if (!names.includes(name)) return [{ property, reason: `is beyond the number of storages, ${storages}` }];
      return listFaults(list, channels).map((reason) => ({ property, reason }));
    }),
  ];
}

const mostStorages = 100;

function listFaults(list: string, channels: readonly string[] | undefined): readonly string[] {
  const named = channelsOf(list);
  return named.length === 0 ? ["must name at least one channel"] : strangers(named, channels);
}

/** What is wrong with names that are no channels of the source; nothing while its channels are not known. */
function strangers(named: readonly string[], channels: readonly string[] | undefined): readonly string[] {
  if (channels === undefined) return [];
  return [...new Set(named)]
    .filter((name) => !channels.includes(name))
    .map((name) => `"${name}" is no channel of the source; its channels are: ${channels.join(", ")}`);
}
