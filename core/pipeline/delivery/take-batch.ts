import { type Channel, type Event, onAbort, type TakeTransaction } from "../../sdk/index.js";

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
  const window = new AbortController();
  const close = () => window.abort();
  const { batchTimeout, batchLinger = Number.POSITIVE_INFINITY } = limits;
  const timer = setTimeout(close, Math.min(batchTimeout * 1000, batchLinger));
  const stopListening = onAbort(signal, close);
  try {
    while (events.length < limits.batchSize) {
      const more = await transaction.take(limits.transactionCapacity - events.length, window.signal);
      if (more.length === 0) break;
      events.push(...more);
    }
    return events;
  } finally {
    clearTimeout(timer);
    stopListening();
  }
}

/** How many events of a channel may be held back while others pass. */
export function mostHeldOf({ transactionCapacity }: Pick<Channel, "transactionCapacity">): number {
  return Math.max(1, transactionCapacity - Math.min(LARGEST_WRITE, Math.ceil(transactionCapacity / 2)));
}

/** Takes what was held back, which comes first, and what is there behind it. */
export async function takeBehind(
  held: number,
  { transaction, most }: { readonly transaction: TakeTransaction; readonly most: number },
): Promise<readonly Event[]> {
  const events: Event[] = [];
  // A channel reads what is behind only when all before it was taken.
  while (events.length < most && (events.length <= held || most === held)) {
    const more = await transaction.take(most - events.length, noWaiting);
    if (more.length === 0) break;
    for (const event of more) events.push(event);
  }
  return events;
}

const noWaiting = AbortSignal.abort();
