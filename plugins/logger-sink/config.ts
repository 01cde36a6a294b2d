import type { ConfigOf, Schema } from "deneb/sdk";

export const loggerSchema = {
  show: {
    doc: "Content of the line of a batch: count is the number of events, entities adds the id and type of each entity.",
    format: ["count", "entities"],
    default: "entities",
  },
} as const satisfies Schema;

export type LoggerConfig = ConfigOf<typeof loggerSchema>;
