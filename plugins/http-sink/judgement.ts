import { STATUS_CODES } from "node:http";
import { AgentError } from "deneb/sdk";
import type { Answer } from "./exchange.js";

export interface Limits {
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Most milliseconds the other side may ask to wait. */
  readonly longestWait: number;
}

/** The error an answer stands for; undefined for success. */
export function failureOf({ status, headers }: Answer, what: string, limits: Limits): AgentError | undefined {
  if (status >= 200 && status < 300) return undefined;
  const answer = `${what}: answered ${status} ${STATUS_CODES[status] ?? ""}`.trim();
  if (status >= 500 || passing.has(status)) {
    const retryAfter = waitOf(headers["retry-after"], limits);
    return new AgentError("HTTP_BUSY", answer, {
      retryable: true,
      ...(retryAfter === undefined ? {} : { retryAfter }),
    });
  }
  const remedy = status < 400 ? "; redirects are not followed, give the final url" : "";
  return new AgentError("HTTP_REFUSED", answer + remedy, { retryable: false });
}

/** Request Timeout, Too Early, Too Many Requests. */
const passing: ReadonlySet<number> = new Set([408, 425, 429]);

/** Retry-After is a number of seconds or a date. */
function waitOf(retryAfter: string | undefined, { now, longestWait }: Limits): number | undefined {
  if (retryAfter === undefined) return undefined;
  const wait = /^\s*\d+\s*$/.test(retryAfter) ? Number(retryAfter) * 1000 : Date.parse(retryAfter) - now;
  return Number.isNaN(wait) ? undefined : Math.min(Math.max(wait, 0), longestWait);
}
