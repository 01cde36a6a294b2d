/**
 * Calls the listener once when the signal aborts, at once if it has aborted already. Returns a function that removes the
 * listener; call it when the work is done, since a signal may outlive many pieces of work.
 */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  const abort = () => listener();
  if (signal.aborted) abort();
  else signal.addEventListener("abort", abort, { once: true });
  return () => signal.removeEventListener("abort", abort);
}
