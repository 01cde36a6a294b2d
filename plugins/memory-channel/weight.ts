import { AgentError, type Event } from "deneb/sdk";

/** What JSON writes around a member: quotes, colon and comma. */
const MEMBER = 4;
/** A number, `true`, `false` or `null`. */
const SHORT = 8;
const DEEPEST = 1000;

/**
 * About the number of bytes that an event has as JSON text, without writing that text: characters of strings and names
 * count one byte each. Throws code `EVENT_TOO_DEEP` for a body without an end.
 */
export function weightOf({ headers, body }: Event): number {
  let weight = 2 * MEMBER;
  for (const name in headers) weight += name.length + (headers[name]?.length ?? 0) + MEMBER;
  return weight + weightOfValue(body, 0);
}

function weightOfValue(value: unknown, depth: number): number {
  if (typeof value === "string") return value.length + 2;
  if (typeof value !== "object" || value === null) return SHORT;
  if (depth > DEEPEST) {
    throw new AgentError("EVENT_TOO_DEEP", `an event is nested deeper than ${DEEPEST} levels, or contains itself`, {
      retryable: false,
    });
  }
  let weight = 2;
  if (Array.isArray(value)) {
    // By index: for lists of many kinds an iterator allocates something for each item.
    for (let at = 0; at < value.length; at += 1) weight += weightOfValue(value[at], depth + 1) + 1;
    return weight;
  }
  // Object.entries makes a list for each object and takes five times as long.
  if (isRecord(value)) {
    for (const name in value) {
      const member = value[name];
      // Most are texts: without a call for each it takes half of the time.
      weight +=
        name.length + MEMBER + (typeof member === "string" ? member.length + 2 : weightOfValue(member, depth + 1));
    }
  }
  return weight;
}

function isRecord(value: object): value is Readonly<Record<string, unknown>> {
  return !Array.isArray(value);
}
