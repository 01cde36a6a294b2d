import type { ConfigOf, Schema } from "deneb/sdk";

export const replicatingSchema = {
  optional: {
    doc: "Channels of the source that may fail without the notification being refused. All others are required.",
    format: "words",
    default: [],
  },
} as const satisfies Schema;

export type ReplicatingConfig = ConfigOf<typeof replicatingSchema>;
