import { STATUS_CODES } from "node:http";
import { AgentError } from "deneb/sdk";
import type { HttpResponse } from "./http-call.js";

interface RetryLimits {
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Most milliseconds that the server may ask to wait. */
  readonly longestWait: number;
}

/** The error for a response; undefined for success. */
export function failureOf(
  { status, headers }: HttpResponse,
  what: string,
  limits: RetryLimits,
): AgentError | undefined {
  if (status >= 200 && status < 300) return undefined;
  const answer = `${what}: answered ${status} ${STATUS_CODES[status] ?? ""}`.trim();
  if (status >= 500 || temporary.has(status)) {
    const retryAfter = waitOf(headers["retry-after"], limits);
    const options = { retryable: true, ...(retryAfter === undefined ? {} : { retryAfter }) };
    return temporary.has(status)
      ? new TemporaryFailure("HTTP_BUSY", answer, options)
      : new AgentError("HTTP_BUSY", answer, options);
  }
  const remedy = status >= 300 && status < 400 ? "; redirects are not followed, give the final url" : "";
  return new AgentError("HTTP_REFUSED", answer + remedy, { retryable: false });
}

/** Whether the error is of a response that says that the same request may succeed later: it is not about the data. */
export function isTemporary(error: unknown): boolean {
  return error instanceof TemporaryFailure;
}

class TemporaryFailure extends AgentError {}

/** Request Timeout, Too Early, Too Many Requests, Service Unavailable. */
const temporary: ReadonlySet<number> = new Set([408, 425, 429, 503]);

/** Retry-After is a number of seconds or a date. */
function waitOf(retryAfter: string | undefined, { now, longestWait }: RetryLimits): number | undefined {
  if (retryAfter === undefined) return undefined;
  const wait = /^\s*\d+\s*$/.test(retryAfter) ? Number(retryAfter) * 1000 : Date.parse(retryAfter) - now;
  return Number.isNaN(wait) ? undefined : Math.min(Math.max(wait, 0), longestWait);
}
