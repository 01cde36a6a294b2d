import { isError, messageOf } from "./causes.js";
import { codeOf, eventsOf, retryableOf } from "./errors.js";
import type { Event } from "./event.js";
import { isEvent } from "./event-fault.js";

/** The value, frozen in depth: changing any part of it throws in an ES module. What is frozen already is not looked into. */
export function frozen<T>(value: T): T {
  const open: unknown[] = [value];
  // A list and no recursion: what somebody made may be deeper than the stack.
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    if (typeof part !== "object" || part === null || Object.isFrozen(part) || ArrayBuffer.isView(part)) continue;
    Object.freeze(part);
    for (const inner of Object.values(part)) if (inner !== undefined) open.push(inner);
  }
  return value;
}

/** The event, frozen in depth. Other channels and sinks may have the same one, or its body. */
export function frozenEvent(event: Event): Event {
  if (!isEvent(event)) return event;
  // Each by itself: an event that its plugin froze need not have what is in it frozen.
  frozen(event.headers);
  frozen(event.body);
  return Object.freeze(event);
}

/** How V8 words the error of strict code that changes a frozen object. */
const CHANGED = /object is not extensible$|^Cannot (?:assign to read only|delete|redefine) property /;

/** What the plugin threw; with the remedy where it seems to have changed an event, and says nothing else of its failure. */
export function withRemedy(thrown: unknown): unknown {
  if (!isError(thrown) || !CHANGED.test(messageOf(thrown))) return thrown;
  const saysMore = [retryableOf, codeOf, eventsOf].some((said) => said(thrown) !== undefined);
  if (saysMore) return thrown;
  return new TypeError("events are frozen, its plugin must make another one in place of changing it", {
    cause: thrown,
  });
}
