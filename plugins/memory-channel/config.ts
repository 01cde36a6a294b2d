import type { ConfigOf, PropertyFault, Schema } from "deneb/sdk";

const SECONDS_OF_A_DAY = 86_400;

export const memorySchema = {
  capacity: {
    doc: "The most events the channel holds, those taken but not yet stored included.",
    format: "count",
    default: 100,
    min: 1,
  },
  transactionCapacity: {
    doc: "The most events of one put or take transaction; not above capacity.",
    format: "count",
    default: 100,
    min: 1,
  },
  "keep-alive": {
    doc: "Seconds that a put waits for room before it is refused; 0 refuses at once.",
    format: "seconds",
    default: 3,
    max: SECONDS_OF_A_DAY,
  },
} as const satisfies Schema;

export type MemoryConfig = ConfigOf<typeof memorySchema>;

export function checkMemory(config: MemoryConfig): readonly PropertyFault<typeof memorySchema>[] {
  const { capacity, transactionCapacity } = config;
  if (transactionCapacity <= capacity) return [];
  return [{ property: "transactionCapacity", reason: `must not be above capacity, which is ${capacity}` }];
}
