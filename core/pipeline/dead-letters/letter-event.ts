import { inspect } from "node:util";
import type { Event } from "../../sdk/index.js";
import { lineOf, recordOf } from "./dead-letter.js";
import type { DeadLetter } from "./dead-letters.js";
import { withoutLetter } from "./replayed-letters.js";

/** False for anything that is not an object with headers, such as a text or a promise. */
export function isEvent(value: unknown): value is Event {
  if (typeof value !== "object" || value === null || !("headers" in value)) return false;
  return typeof value.headers === "object" && value.headers !== null;
}

/** What is no event as an event that can be kept: its description for people is the body. */
export function describedEvent(value: unknown): Event {
  return { headers: {}, body: inspect(value, { depth: 4, maxArrayLength: 100, maxStringLength: 10_000 }) };
}

/** The letter as it can be read again; an event that JSON cannot hold is described instead. */
export function readableLetter(letter: DeadLetter): DeadLetter {
  const plain = { ...letter, event: withoutLetter(letter.event) };
  return isReadable(plain) ? plain : { ...letter, event: describedEvent(letter.event) };
}

function isReadable(letter: DeadLetter): boolean {
  try {
    return recordOf(lineOf(letter)) !== undefined;
  } catch {
    return false;
  }
}
