import type { InboundRequest, Receive, Refused } from "./source.js";

/** Errors in a row that do not say whether they are retryable; at the last the request, which may be the cause, is refused. */
const MOST_UNKNOWN = 10;
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
  const { receive, request, pause, held } = repeated;
  let unknown = 0;
  for (let attempt = 1; !signal.aborted; attempt += 1) {
    let isHeld = false;
    await receive(request(), (refused) => {
      unknown = refused.retryable === undefined ? unknown + 1 : 0;
      isHeld = mayBeTakenLater(refused, unknown);
      if (!isHeld) return 0;
      held(refused, attempt);
      return undefined;
    });
    if (!isHeld) return true;
    await pause(signal);
  }
  return false;
}

function mayBeTakenLater({ status, retryable }: Refused, unknown: number): boolean {
  if (status === TOO_MANY) return false;
  return retryable ?? unknown < MOST_UNKNOWN;
}
