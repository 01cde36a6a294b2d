import assert from "node:assert/strict";
import type { Event, Interceptor } from "../../core/sdk/index.js";

/** What an interceptor that waits for nothing makes of an event. */
export function intercepted(interceptor: Interceptor, event: Event): Event | undefined {
  const made = interceptor.intercept(event, new AbortController().signal);
  assert.ok(!(made instanceof Promise), "nothing is waited for");
  return made;
}
