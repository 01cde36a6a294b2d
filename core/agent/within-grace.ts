import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { AgentError } from "../sdk/index.js";

/** Milliseconds a component has to end after its grace period, before the agent goes on without it. */
const afterGrace = 2000;

/** Waits for a component to stop, but not without limit: one that ignores its signal is left behind with an error. */
export async function withinGrace<T>(stopping: Promise<T>, name: string, signal: AbortSignal): Promise<T> {
  const done = new AbortController();
  const overdue = async (): Promise<never> => {
    if (!signal.aborted) await once(signal, "abort", { signal: done.signal });
    await delay(afterGrace, undefined, { signal: done.signal });
    throw new AgentError("STOP_OVERDUE", `stopping "${name}": it did not end within the grace period`, {
      retryable: false,
    });
  };
  const timeout = overdue();
  try {
    return await Promise.race([stopping, timeout]);
  } finally {
    done.abort();
    await timeout.catch(() => undefined);
  }
}
