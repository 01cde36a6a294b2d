import type { IncomingMessage } from "node:http";
import type { BodyBudget } from "./body-budget.js";
import { noRoomForBody, type Refusal, tooLarge } from "./refusal.js";

export interface BodyLimits {
  /** Most bytes of one body. */
  readonly most: number;
  readonly budget: BodyBudget;
  /** Seconds that a sender is asked to wait when there is no room. */
  readonly retryAfter: number;
}

/** A body that was read, and what it took of the budget. */
export interface ReadBody {
  readonly body: Uint8Array;
  readonly granted: number;
}

/**
 * Reads the body; undefined when the sender went away. A refusal as soon as it is known to be too large, or when there is
 * no room for it.
 */
export function readBody(request: IncomingMessage, limits: BodyLimits): Promise<ReadBody | Refusal | undefined> {
  const { most, budget, retryAfter } = limits;
  if (announcedBytes(request) > most) return Promise.resolve(tooLarge(most));
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let granted = 0;
    const end = (result: Refusal | undefined): void => {
      request.off("data", collect);
      chunks.length = 0;
      budget.release(granted);
      granted = 0;
      resolve(result);
    };
    const collect = (chunk: Buffer): void => {
      size += chunk.length;
      const cost = size > most ? 0 : budget.grant(chunk.length, granted);
      if (size > most) end(tooLarge(most));
      else if (cost === 0) end(noRoomForBody(retryAfter));
      else {
        granted += cost;
        chunks.push(chunk);
      }
    };
    request.on("data", collect);
    request.on("end", () => resolve({ body: joined(chunks, size), granted }));
    request.on("error", () => end(undefined));
  });
}

/** Looked for in the raw headers: making the object of all headers is a large part of reading a small body. */
function announcedBytes({ rawHeaders }: IncomingMessage): number {
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? "";
    if (name.length === CONTENT_LENGTH.length && name.toLowerCase() === CONTENT_LENGTH) {
      return Number(rawHeaders[index + 1]);
    }
  }
  return 0;
}

const CONTENT_LENGTH = "content-length";

function joined(chunks: readonly Buffer[], size: number): Uint8Array {
  const [only] = chunks;
  return chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks, size);
}
