import { setTimeout as delay } from "node:timers/promises";
import { AgentError } from "../sdk/index.js";

/** Milliseconds that work has to end after its signal aborted, before nobody waits for it any more. */
const patienceAfterAbort = 2000;

export interface WorkLimit {
  /** What is being done, for the message of the error. */
  readonly what: string;
  /** 0 waits for ever. */
  readonly milliseconds: number;
  /** Aborts when the work is not wanted any more. */
  readonly signal: AbortSignal;
}

/**
 * Waits for work of a plugin, whatever the plugin does: at the limit, or when the signal aborts, its own signal aborts
 * and it has a little time to end. Work that ends well then still counts. Throws code `TIMED_OUT` at the limit.
 */
export async function withinLimit<T>(work: (signal: AbortSignal) => Promise<T>, limit: WorkLimit): Promise<T> {
  const { what, milliseconds, signal } = limit;
  const ended = new AbortController();
  const givenUp = new AbortController();
  let late = false;
  const timer = milliseconds === 0 ? undefined : setTimeout(() => giveUp(true), milliseconds);
  const giveUp = (isLate: boolean) => {
    late = isLate;
    givenUp.abort();
  };
  const abort = () => giveUp(false);
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  try {
    return await Promise.race([started(work, givenUp.signal), overdue(what, givenUp.signal, ended.signal)]);
  } catch (cause) {
    if (!late) throw cause;
    const seconds = milliseconds / 1000;
    throw new AgentError("TIMED_OUT", `${what} took longer than ${seconds} s`, { cause, retryable: true });
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", abort);
    ended.abort();
  }
}

/** A plugin that throws before it returns a promise is no other case than one that rejects. */
async function started<T>(work: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> {
  return await work(signal);
}

async function overdue(what: string, givenUp: AbortSignal, ended: AbortSignal): Promise<never> {
  await aborted(givenUp, ended);
  await delay(patienceAfterAbort, undefined, { signal: ended }).catch(() => undefined);
  throw new AgentError("NOT_ENDED", `${what} did not end when it was asked to`, { retryable: true });
}

async function aborted(...signals: readonly AbortSignal[]): Promise<void> {
  if (signals.some((signal) => signal.aborted)) return;
  await new Promise<void>((resolve) => {
    const end = () => {
      for (const signal of signals) signal.removeEventListener("abort", end);
      resolve();
    };
    for (const signal of signals) signal.addEventListener("abort", end, { once: true });
  });
}
