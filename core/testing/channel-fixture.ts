import type { Channel, Event, TakeTransaction } from "../sdk/index.js";
import { rejectsAs } from "./expectations.js";

/** How the channel of one test is to be made. */
export interface ChannelLimits {
  readonly capacity: number;
  readonly transactionCapacity: number;
  /** Seconds a put waits for room. */
  readonly waitSeconds: number;
}

/** A case of the suite. It gets a function that opens channels; each is stopped when the case ends. */
export interface ChannelCase {
  readonly name: string;
  run(open: (limits?: Partial<ChannelLimits>) => Promise<Channel>): Promise<void>;
}

export const never: AbortSignal = new AbortController().signal;

export const numbered = (body: number): Event => ({ headers: { "fiware-service": "s" }, body });

export async function put(channel: Channel, ...bodies: readonly number[]): Promise<void> {
  const transaction = channel.openPut();
  for (const body of bodies) transaction.put(numbered(body));
  await transaction.commit();
}

export interface Taken {
  readonly transaction: TakeTransaction;
  readonly bodies: readonly unknown[];
}

/** Takes in a transaction that stays open. */
export async function take(channel: Channel, max: number): Promise<Taken> {
  const transaction = channel.openTake();
  const events = await transaction.take(max, never);
  return { transaction, bodies: bodiesOf(events) };
}

/** Takes and commits until the channel is empty. */
export async function drain(channel: Channel, max: number): Promise<readonly unknown[]> {
  const seen: unknown[] = [];
  while (channel.size > 0) {
    const { transaction, bodies } = await take(channel, max);
    seen.push(...bodies);
    await transaction.commit();
  }
  return seen;
}

export function bodiesOf(events: readonly Event[]): readonly unknown[] {
  return events.map(({ body }) => body);
}

export function upTo(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index);
}

export async function rejectsWith(code: string, promise: Promise<unknown>): Promise<void> {
  await rejectsAs(promise, "the call", { code });
}
