import type { ConfigOf, PropertyFault, Schema } from "deneb/sdk";
import { sharingProperties } from "deneb/sdk/channel";

const SECONDS_OF_A_DAY = 86_400;

export const memorySchema = {
  capacity: {
    doc: "The most events the channel holds, those taken but not yet stored included.",
    format: "count",
    default: 100,
    min: 1,
  },
  transactionCapacity: {
    doc: "The most events of one take; not above capacity. A notification of more events goes in as a whole.",
    format: "count",
    default: 100,
    min: 1,
  },
  byteCapacity: {
    doc:
      "The most bytes of all events in the channel, counted about as long as they are as JSON; of these " +
      "byteCapacityBufferPercentage are kept free. -1: a fifth of the memory that Node gives the program " +
      "(its heap limit); 0: no limit.",
    format: "integer",
    default: -1,
    min: -1,
  },
  byteCapacityBufferPercentage: {
    doc: "Percentage of byteCapacity that is kept free, because bytes are counted by estimate.",
    format: "count",
    default: 20,
    max: 99,
  },
  "keep-alive": {
    doc: "Seconds that a put waits for room before it is refused; 0 refuses at once.",
    format: "seconds",
    default: 3,
    max: SECONDS_OF_A_DAY,
  },
  ...sharingProperties,
} as const satisfies Schema;

type MemoryConfig = ConfigOf<typeof memorySchema>;

/** The properties without which a memory channel cannot be created; the others have defaults. */
export type MemoryLimits = Pick<MemoryConfig, "capacity" | "transactionCapacity" | "keep-alive"> &
  Partial<MemoryConfig>;

export function checkMemory(config: MemoryConfig): readonly PropertyFault<typeof memorySchema>[] {
  const { capacity, transactionCapacity } = config;
  if (transactionCapacity <= capacity) return [];
  return [{ property: "transactionCapacity", reason: `must not be above capacity, which is ${capacity}` }];
}
