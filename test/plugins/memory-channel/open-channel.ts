import type { Event } from "../../../core/sdk/index.js";
import type { MemoryConfig } from "../../../plugins/memory-channel/config.js";
import { MemoryChannel } from "../../../plugins/memory-channel/memory-channel.js";
import { recordingLog } from "../../support/recording-log.js";

export const never: AbortSignal = new AbortController().signal;

/** A channel with room for 10 events, 5 in a transaction, and no patience, unless told otherwise. */
export function openChannel(config: Partial<MemoryConfig> = {}): MemoryChannel {
  const { log } = recordingLog();
  const context = { name: "c1", log, dataDir: "", now: () => new Date(0) };
  return new MemoryChannel({ capacity: 10, transactionCapacity: 5, "keep-alive": 0, ...config }, context);
}

export const event = (body: number): Event => ({ headers: {}, body });

export async function put(channel: MemoryChannel, ...bodies: readonly number[]): Promise<void> {
  const transaction = channel.openPut();
  for (const body of bodies) transaction.put(event(body));
  await transaction.commit();
}

/** Takes in a transaction that stays open. */
export async function take(channel: MemoryChannel, max: number) {
  const transaction = channel.openTake();
  const events = await transaction.take(max, never);
  return { transaction, bodies: events.map(({ body }) => body) };
}
