/**
 * The lifecycle law. Every component obeys it and the agent relies on it.
 *
 * 1. Creating a component does no I/O, opens nothing, starts no timer.
 * 2. `start` may do I/O and may throw; when it throws, the agent stops what was started and ends with a message.
 *    A store that is not available is no reason to throw: the component starts, logs it, and tries again when it is
 *    used. A start that takes longer than the start time-out is logged, and the agent continues without that source or
 *    sink; it waits for a channel.
 * 3. `stop` is safe before `start`, after a failed `start`, and when called twice. When its promise settles every
 *    loop, timer, socket and thread of the component has ended. The signal aborts when the grace period is over:
 *    what is not finished by then is abandoned.
 * 4. After `stop` nothing of the component is called.
 * 5. Channels start first, then sinks, side by side, then sources; sources stop first, then sinks (after draining
 *    their channels), then channels.
 * @stable
 */
export interface Lifecycle {
  start(): Promise<void>;
  stop(signal: AbortSignal): Promise<void>;
}

/**
 * Calls the listener once when the signal aborts, at once if it has aborted already. Returns a function that removes the
 * listener; call it when the work is done, since a signal may outlive many pieces of work.
 * @stable
 */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  // A listener that was removed refers to the next one: what it would have done must not stay with it.
  let called: (() => void) | undefined = listener;
  const abort = () => called?.();
  if (signal.aborted) abort();
  else signal.addEventListener("abort", abort, { once: true });
  return () => {
    signal.removeEventListener("abort", abort);
    called = undefined;
  };
}

/**
 * Does the work with a signal that aborts with the first of these. What `AbortSignal.any` leaves in signals that outlive the work,
 * as those of a component do, is left in none.
 * @beta
 */
export async function withEither<T>(
  signals: readonly AbortSignal[],
  work: (either: AbortSignal) => Promise<T>,
): Promise<T> {
  const either = new AbortController();
  const stops = signals.map((signal) => onAbort(signal, () => either.abort(signal.reason)));
  try {
    return await work(either.signal);
  } finally {
    for (const stop of stops) stop();
  }
}

/** Resolves after this time, or when the signal aborts. @beta */
export function pause(millis: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const end = () => {
      clearTimeout(timer);
      stopListening();
      resolve();
    };
    const timer = setTimeout(end, millis);
    const stopListening = onAbort(signal, end);
  });
}
