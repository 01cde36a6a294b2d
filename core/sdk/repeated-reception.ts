import type { InboundRequest, Receive, Refused } from "./source.js";

/** Attempts for a request whose error does not say whether it is retryable; then the request, which may be the cause, is refused. */
const MOST_ATTEMPTS = 10;
/** A service that sent more than it may: to hold its request would hold those of all others behind it. */
const TOO_MANY = 429;

/** How a request is handed over again and again. @beta */
export interface RepeatedReception {
  readonly receive: Receive;
  /** Makes the request of an attempt, with its own reception time. */
  readonly request: () => InboundRequest;
  /** Resolves when it is time for the next attempt, or the signal aborts. */
  readonly pause: (signal: AbortSignal) => Promise<unknown>;
  /** Called before each pause, with the number of the attempt, from 1; for the log. */
  readonly held: (refused: Refused, attempt: number) => void;
}

/**
 * Hands over a request whose sender does not wait for an answer, such as a message of a broker, and does so again while the
 * channels cannot take it. True when they have its events, or it was refused for good; false when the signal aborted before.
 * @beta
 */
export async function receiveUntilTaken(repeated: RepeatedReception, signal: AbortSignal): Promise<boolean> {
  for (let attempt = 1; !signal.aborted; attempt += 1) {
    if (await isDone(repeated, attempt)) return true;
    await repeated.pause(signal);
  }
  return false;
}

async function isDone({ receive, request, held }: RepeatedReception, attempt: number): Promise<boolean> {
  let isHeld = false;
  await receive(request(), (refused) => {
    isHeld = mayBeTakenLater(refused, attempt);
    if (!isHeld) return 0;
    held(refused, attempt);
    return undefined;
  });
  return !isHeld;
}

function mayBeTakenLater({ status, retryable }: Refused, attempt: number): boolean {
  if (status === TOO_MANY) return false;
  return retryable ?? attempt < MOST_ATTEMPTS;
}
