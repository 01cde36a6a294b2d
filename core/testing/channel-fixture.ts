import assert from "node:assert/strict";
import type { Channel, Event, TakeTransaction } from "../sdk/index.js";
import { failure, rejectsAs } from "./expectations.js";

/** How the channel of one test is to be made. @stable */
export interface ChannelLimits {
  readonly capacity: number;
  readonly transactionCapacity: number;
  /** Seconds a put waits for room. */
  readonly waitSeconds: number;
}

/** A case of the suite. It gets a function that opens channels; each is stopped when the case ends. */
export interface ChannelCase {
  readonly name: string;
  run(open: OpenChannel): Promise<void>;
}

export type OpenChannel = (limits?: Partial<ChannelLimits>) => Promise<Channel>;

/** A case of a channel that outlives its process, or that several agents may use. */
export interface FurtherCase {
  readonly name: string;
  run(open: OpenChannel, another: (channel: Channel) => Promise<Channel>): Promise<void>;
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

/** Takes and commits until the channel has nothing more to hand out. */
export async function drain(channel: Channel, max: number): Promise<readonly unknown[]> {
  const seen: unknown[] = [];
  for (;;) {
    const transaction = channel.openTake();
    const events = await transaction.take(max, isHolding(channel) ? never : AbortSignal.abort());
    if (events.length === 0) return seen;
    seen.push(...bodiesOf(events));
    await transaction.commit();
  }
}

/** What an exact size says; a channel without one has what it hands out at once. */
function isHolding(channel: Channel): boolean {
  return sizeOf(channel) !== undefined && channel.size !== 0;
}

/** Its size counts what is in it, and nothing else. */
export function isExact(channel: Channel): boolean {
  return sizeOf(channel) !== undefined;
}

function sizeOf({ size, sizeIs = "exact" }: Channel): number | undefined {
  return sizeIs === "exact" ? size : undefined;
}

/** The size is this one, where the channel counts exactly. */
export function holds(channel: Channel, events: number): void {
  const size = sizeOf(channel);
  if (size !== undefined) assert.equal(size, events, `the channel holds ${events} events, its size is ${size}`);
}

/** Takes without committing until this number of events is there, in takes as large as the channel allows. */
export async function collect(channel: Channel, count: number): Promise<Collected> {
  const transactions: TakeTransaction[] = [];
  const bodies: unknown[] = [];
  const redelivered: unknown[] = [];
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), MOST_MILLIS);
  while (bodies.length < count && !limit.signal.aborted) {
    const transaction = channel.openTake();
    transactions.push(transaction);
    const events = await transaction.take(Math.min(count - bodies.length, channel.transactionCapacity), limit.signal);
    bodies.push(...bodiesOf(events));
    redelivered.push(...bodiesOf(events.filter((event) => transaction.isRedelivered?.(event) === true)));
  }
  clearTimeout(timer);
  if (redelivered.length > 0 && channel.redelivers !== true)
    throw failure(`"redelivers" of the channel must be true: its takes say that events are redelivered`);
  if (bodies.length >= count) return { transactions, bodies, redelivered };
  throw failure(`${count} events must come; within ${MOST_MILLIS / 1000} s came ${JSON.stringify(bodies)}`);
}

/** How long events are waited for. */
export const MOST_MILLIS = 10_000;

interface Collected {
  readonly transactions: readonly TakeTransaction[];
  readonly bodies: readonly unknown[];
  /** Those of them of which the channel says that they may have been delivered before. */
  readonly redelivered: readonly unknown[];
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
