import { onAbort } from "./lifecycle.js";

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
