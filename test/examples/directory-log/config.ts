import { logChannelProperties } from "deneb/log";
import type { Schema } from "deneb/sdk";

export const directoryLogSchema = {
  folder: { doc: "Folder of the log, the same for all agents.", format: "text" },
  partitions: { doc: "Parts that keep an order of their own.", format: "count", default: 8, min: 1 },
  ...logChannelProperties,
} as const satisfies Schema;
