import type { ConfigOf, Schema } from "deneb/sdk";

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
