import { setTimeout as delay } from "node:timers/promises";

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
