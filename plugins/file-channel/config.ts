import type { ConfigOf, PropertyFault, Schema } from "deneb/sdk";
import { sharingProperties } from "deneb/sdk/channel";

const SECONDS_OF_A_DAY = 86_400;

const common = {
  transactionCapacity: {
    doc: "The most events of one take; not above the capacity. A notification of more events goes in as a whole.",
    format: "count",
    default: 10_000,
    min: 1,
  },
  "keep-alive": {
    doc: "Seconds that a put waits for room before it is refused; 0 refuses at once.",
    format: "seconds",
    default: 3,
    max: SECONDS_OF_A_DAY,
  },
  checkpointDir: {
    doc: "Folder of the checkpoint, for this channel alone. Empty: channels/<channel>/checkpoint in the data directory.",
    format: "text",
    default: "",
    resource: "folder",
  },
  dataDirs: {
    doc:
      "Folders of the events, for this channel alone; several are used in turn, one file each. " +
      "Empty: channels/<channel>/data in the data directory.",
    format: "words",
    default: [],
    resource: "folder",
  },
  maxFileSize: {
    doc: "Bytes after which a file of events is closed and the next one begun. A file is removed as a whole.",
    format: "count",
    default: 67_108_864,
    min: 65_536,
  },
  ...sharingProperties,
} as const satisfies Schema;

const byteCapacity = {
  doc:
    "The most bytes of the files with events that are not done. The disk may hold up to one file (maxFileSize, or a " +
    "quarter of byteCapacity when that is less) more.",
  format: "count",
  default: 4_294_967_296,
  min: 262_144,
} as const;

export const fileSchema = {
  capacity: {
    doc: "The most events the channel holds, those taken but not yet stored included.",
    format: "count",
    default: 1_000_000,
    min: 1,
  },
  byteCapacity,
  ...common,
} as const satisfies Schema;

export const spillableSchema = {
  memoryCapacity: {
    doc: "The most events kept in memory alone, lost when the process is killed; 0 writes every event to disk.",
    format: "count",
    default: 10_000,
  },
  overflowCapacity: {
    doc: "The most events on disk, besides those in memory.",
    format: "count",
    default: 1_000_000,
    min: 1,
  },
  byteCapacity,
  ...common,
} as const satisfies Schema;

export type FileConfig = ConfigOf<typeof fileSchema>;
export type SpillableConfig = ConfigOf<typeof spillableSchema>;

export function checkFile({ capacity, transactionCapacity }: FileConfig): readonly PropertyFault<typeof fileSchema>[] {
  return transactionFault(transactionCapacity, capacity, "capacity, which is");
}

export function checkSpillable(config: SpillableConfig): readonly PropertyFault<typeof spillableSchema>[] {
  return transactionFault(config.transactionCapacity, config.overflowCapacity, "overflowCapacity, which is");
}

function transactionFault(transactionCapacity: number, most: number, bound: string) {
  if (transactionCapacity <= most) return [];
  return [{ property: "transactionCapacity", reason: `must not be above ${bound} ${most}` } as const];
}
