import { once, setMaxListeners } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { AgentError, onAbort } from "../sdk/index.js";

/** Milliseconds that work has to end after its signal aborted, before it is not awaited any longer. */
const timeAfterAbort = 2000;
/** Milliseconds a component has to end after its grace period, before the agent goes on without it. */
const afterGrace = 2000;

/**
 * The signal, for as many listeners as the configuration has components: Node warns of more than ten. Only for signals of
 * which everyone that listens removes its listener.
 */
export function heardByMany(signal: AbortSignal): AbortSignal {
  setMaxListeners(0, signal);
  return signal;
}

interface WorkLimit {
  /** What is being done, for the message of the error. */
  readonly what: string;
  /** 0 is no limit. */
  readonly milliseconds: number;
  /** Aborts when the work is not wanted any more. */
  readonly signal: AbortSignal;
  /** Called with what ends the wait at once, with an error. */
  readonly begun?: (abandon: (error: unknown) => void) => void;
}

/**
 * Waits for work of a plugin, whatever the plugin does: at the limit, or when the signal aborts, its own signal aborts
 * and it has a little time to end. Work that ends well then still counts. Throws code `TIMED_OUT` at the limit.
 */
export function withinLimit<T>(work: (signal: AbortSignal) => Promise<T>, limit: WorkLimit): Promise<T> {
  const { what, milliseconds, signal } = limit;
  return new Promise((resolve, reject) => {
    const abandoned = new AbortController();
    let late = false;
    let lastTimer: NodeJS.Timeout | undefined;
    const end = () => {
      clearTimeout(timer);
      clearTimeout(lastTimer);
      stopListening();
    };
    const fail = (cause: unknown) => {
      end();
      reject(late ? timedOut(limit, cause) : cause);
    };
    const abandon = (isLate: boolean) => {
      late ||= isLate;
      lastTimer ??= setTimeout(() => fail(notEnded(what)), timeAfterAbort);
      abandoned.abort();
    };
    limit.begun?.((error) => {
      abandoned.abort();
      fail(error);
    });
    const timer = milliseconds === 0 ? undefined : setTimeout(() => abandon(true), milliseconds);
    const stopListening = onAbort(signal, () => abandon(false));
    started(work, abandoned.signal).then((result) => {
      end();
      resolve(result);
    }, fail);
  });
}

/** A plugin that throws before it returns a promise is no other case than one that rejects. */
async function started<T>(work: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> {
  return await work(signal);
}

function timedOut({ what, milliseconds }: WorkLimit, cause: unknown): AgentError {
  const seconds = milliseconds / 1000;
  return new AgentError("TIMED_OUT", `${what} took longer than ${seconds} s`, { cause, retryable: true });
}

function notEnded(what: string): AgentError {
  return new AgentError("NOT_ENDED", `${what} did not end when it was asked to`, { retryable: true });
}

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

/** Waits until all of the work has ended, and throws the first failure then, in the order of the work. */
export async function allEnded(work: readonly Promise<void>[]): Promise<void> {
  const failed = (await Promise.allSettled(work)).find(({ status }) => status === "rejected");
  if (failed?.status === "rejected") throw failed.reason;
}
