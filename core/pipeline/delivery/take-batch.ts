import { type Channel, type Event, onAbort, type TakeTransaction } from "../../sdk/index.js";
import { wait } from "./retry-policy.js";

/** Maximum number of events of one write, whatever the channel allows: larger writes are not faster. */
export const LARGEST_WRITE = 1000;

export interface BatchLimits {
  /** Number of events that triggers a write. */
  readonly batchSize: number;
  /** Seconds from the first event until the batch is complete even if it is not full. */
  readonly batchTimeout: number;
  /** Milliseconds from the first event, if less than batchTimeout; 0: what waits now is the batch; absent: only batchTimeout counts. */
  readonly batchLinger?: number | undefined;
  readonly transactionCapacity: number;
}

/**
 * Takes the events of one batch: what is waiting, up to the channel's transactionCapacity; when that is fewer than
 * batchSize, more as they come until batchSize is reached or batchTimeout, or batchLinger, has passed since the first. Returns early
 * with what there is when the signal aborts.
 */
export async function takeBatch(
  transaction: TakeTransaction,
  limits: BatchLimits,
  signal: AbortSignal,
): Promise<readonly Event[]> {
  const most = Math.min(limits.transactionCapacity, Math.max(limits.batchSize, LARGEST_WRITE));
  const first = await transaction.take(most, signal);
  if (first.length === 0 || first.length >= limits.batchSize || limits.batchLinger === 0) return first;
  return await gather(transaction, first, { ...limits, transactionCapacity: most }, signal);
}

async function gather(
  transaction: TakeTransaction,
  first: readonly Event[],
  limits: BatchLimits,
  signal: AbortSignal,
): Promise<readonly Event[]> {
  const events = [...first];
  const { batchTimeout, batchLinger = Number.POSITIVE_INFINITY } = limits;
  await within(Math.min(batchTimeout * 1000, batchLinger), signal, async (window) => {
    while (events.length < limits.batchSize) {
      const more = await transaction.take(limits.transactionCapacity - events.length, window);
      if (more.length === 0) break;
      for (const event of more) events.push(event);
    }
  });
  return events;
}

/** How many events of a channel may be held back while others pass. */
export function mostHeldOf({ transactionCapacity }: Pick<Channel, "transactionCapacity">): number {
  return Math.max(1, transactionCapacity - Math.min(LARGEST_WRITE, Math.ceil(transactionCapacity / 2)));
}

interface Behind {
  /** What was held back, in the order of the channel. */
  readonly held: readonly Event[];
  /** Milliseconds for which it waits for others. */
  readonly rest: number;
  /** Of all. */
  readonly most: number;
}

/** Takes what was held back, which comes first, and what is behind it; while there are no others it waits for them. */
export async function takeBehind(
  { held, rest, most }: Behind,
  transaction: TakeTransaction,
  signal: AbortSignal,
): Promise<readonly Event[]> {
  const events: Event[] = [];
  const take = async (until: AbortSignal) => {
    const more = events.length < most ? await transaction.take(most - events.length, until) : [];
    for (const event of more) events.push(event);
    return more.length;
  };
  // A channel reads what is behind only when all before it was taken.
  const takeAll = async () => {
    while (events.length <= held.length || most === held.length) if ((await take(noWaiting)) === 0) break;
  };
  await takeAll();
  const own = new Set(held);
  if (rest <= 0 || !events.every((event) => own.has(event))) return events;
  if (events.length === most) await wait(rest, signal);
  else if ((await within(rest, signal, take)) > 0) await takeAll();
  return events;
}

/** Does the work with a signal that aborts after these milliseconds, or with the other one. */
async function within<T>(
  milliseconds: number,
  signal: AbortSignal,
  work: (window: AbortSignal) => Promise<T>,
): Promise<T> {
  const window = new AbortController();
  const close = () => window.abort();
  const timer = setTimeout(close, milliseconds);
  const stopListening = onAbort(signal, close);
  try {
    return await work(window.signal);
  } finally {
    clearTimeout(timer);
    stopListening();
  }
}

const noWaiting = AbortSignal.abort();
