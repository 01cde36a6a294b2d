import type { Refused } from "deneb/sdk";

/** What the sender is told when its request was not accepted, and what it is counted as. */
export interface Refusal extends Pick<Refused, "status" | "headers" | "reason" | "cause"> {}

/** The refusal as this source answers it: one that may be repeated says when. */
export function answerOf(refused: Refused, retryAfterSeconds: number): Refusal {
  if (refused.retryable !== true) return refused;
  const { retryAfter } = refused;
  const seconds = retryAfter === undefined ? retryAfterSeconds : Math.ceil(retryAfter / 1000);
  return { ...refused, headers: { ...refused.headers, "Retry-After": String(seconds) } };
}

/** The rest of the body is not wanted, so the connection cannot carry another request. */
export function tooLarge(limit: number): Refusal {
  const reason = `The content is larger than ${limit} bytes`;
  return { status: 413, cause: "content-too-large", reason, headers: { Connection: "close" } };
}

export function noRoomForBody(retryAfter: number): Refusal {
  const reason = "Too many bytes of other notifications are being received";
  return busy("too-many-bytes-in-flight", reason, retryAfter);
}

export function tooManyConnections(retryAfter: number): Refusal {
  return busy("too-many-connections", "Too many connections are open", retryAfter);
}

/** For a request that waited for a reload that takes too long. */
export function reloading(retryAfter: number): Refusal {
  return busy("reload-in-progress", "The configuration is being reloaded", retryAfter);
}

export const noToken: Refusal = {
  status: 401,
  cause: "token",
  reason: "A valid token is required",
  headers: { "WWW-Authenticate": 'Bearer realm="notifications"', Connection: "close" },
};

function busy(cause: string, reason: string, retryAfter: number): Refusal {
  return { status: 503, cause, reason, headers: { "Retry-After": String(retryAfter), Connection: "close" } };
}
