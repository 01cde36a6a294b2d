import type { ConfigOf, PropertyFault, Schema } from "deneb/sdk";

export const folderChannelSchema = {
  folder: { doc: "Folder of the events, for this channel alone.", format: "text", resource: "folder" },
  capacity: { doc: "The most events the channel holds.", format: "count", default: 10_000, min: 1 },
  transactionCapacity: {
    doc: "The most events of one take; not above capacity.",
    format: "count",
    default: 100,
    min: 1,
  },
  "keep-alive": { doc: "Seconds that a put waits for room.", format: "seconds", default: 3 },
} as const satisfies Schema;

export type FolderChannelConfig = ConfigOf<typeof folderChannelSchema>;

export function checkFolderChannel(config: FolderChannelConfig): readonly PropertyFault<typeof folderChannelSchema>[] {
  const { capacity, transactionCapacity } = config;
  if (transactionCapacity <= capacity) return [];
  return [{ property: "transactionCapacity", reason: `must not be above capacity, which is ${capacity}` }];
}
