import type { ConfigOf, Schema } from "../schema.js";

/** The properties of a channel that services share, to be spread into its schema. @beta */
export const sharingProperties = {
  service_percentage: {
    doc:
      "The most that one service may hold, in events and bytes, as a percentage of the room that the others leave: alone that part " +
      "of the channel, less when several want much, so that room is left for one more. What is beyond it is answered 429. 100: no limit.",
    format: "count",
    default: 100,
    min: 1,
    max: 100,
  },
  fair_taking: {
    doc:
      "Whether sinks get the events of the services in turn, so that many events of one service do not delay those of another; " +
      "the events of one service stay in their order. false: all events in the order in which they were put.",
    format: "flag",
    default: false,
  },
} as const satisfies Schema;

/** The values of these properties. @beta */
export type SharingConfig = ConfigOf<typeof sharingProperties>;
