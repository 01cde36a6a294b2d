import type { Event } from "./event.js";
import type { Lifecycle } from "./lifecycle.js";

/** Looks at each event between a source and its channels. Most need no `start` and no `stop`. */
export interface Interceptor extends Partial<Lifecycle> {
  /** Returns the event, a new event in its place, or undefined to drop it. */
  intercept(event: Event): Event | undefined;
}
