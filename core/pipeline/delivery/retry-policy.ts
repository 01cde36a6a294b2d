import { setTimeout as delay } from "node:timers/promises";
import { AgentError } from "../../sdk/index.js";

export interface RetryPolicy {
  /** Retries after the first try; 0 none, -1 without end. */
  readonly batchTtl: number;
  /** Milliseconds before the first, second, ... retry; the last repeats. */
  readonly batchRetryIntervals: readonly number[];
  /**
   * True where a durable channel keeps the events and the file does not set `batch_ttl`: nothing becomes a dead letter
   * because retries are used up.
   */
  readonly untilStored?: boolean;
}

/** With `batch_ttl = -1` an error that does not say whether it may pass has this number of retries. */
const mostRetriesOfUnknownErrors = 10;

/** Whether there is a retry after this number of tries; `retryable` as the error says it. */
export function mayRetry(policy: RetryPolicy, attempt: number, retryable: boolean | undefined): boolean {
  const { batchTtl, untilStored = false } = policy;
  if (untilStored) return true;
  if (retryable === undefined && batchTtl === -1) return attempt <= mostRetriesOfUnknownErrors;
  return batchTtl === -1 || attempt <= batchTtl;
}

/** Milliseconds before the retry after this number of attempts. */
export function intervalOf({ batchRetryIntervals }: RetryPolicy, attempt: number): number {
  const interval = batchRetryIntervals[Math.min(attempt, batchRetryIntervals.length) - 1];
  if (interval === undefined)
    throw new AgentError("NO_RETRY_INTERVAL", "batch_retry_intervals must not be empty", { retryable: false });
  return interval;
}

/** Waits; returns false at once when the signal aborts. */
export async function wait(milliseconds: number, signal: AbortSignal): Promise<boolean> {
  try {
    await delay(milliseconds, undefined, { signal });
    return true;
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  }
}
