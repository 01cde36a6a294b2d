import { type Logger, reasonOf, type Sink } from "../sdk/index.js";
import { intervalOf, type RetryPolicy } from "./delivery.js";
import type { PositionGate } from "./position-gate.js";
import { wait } from "./wait.js";

export interface CatchUpParts {
  readonly sink: Sink;
  readonly gate: PositionGate;
  readonly retry: RetryPolicy;
  readonly log: Logger;
}

/**
 * The first thing a runner does: it asks its sink for the positions kept with the data, for as long as the store cannot
 * tell, and waits until the other sinks of the channel have told theirs. False when the signal aborts first.
 */
export function catchUpOf(parts: CatchUpParts): (signal: AbortSignal) => Promise<boolean> {
  parts.gate.join();
  return (signal) => catchUp(parts, signal);
}

async function catchUp({ sink, gate, retry, log }: CatchUpParts, signal: AbortSignal): Promise<boolean> {
  let failing: string | undefined;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await gate.arrive((await sink.storedPositions?.(signal)) ?? [], signal);
    } catch (error) {
      const reason = reasonOf(error);
      if (signal.aborted) return false;
      if (reason !== failing) log.warn({ reason }, "what is stored already cannot be read, will be tried again");
      failing = reason;
      if (!(await wait(intervalOf(retry.batchRetryIntervals, attempt), signal))) return false;
    }
  }
}
