import { eventFault } from "../sdk/event-fault.js";
import {
  AgentError,
  type Channel,
  type ChannelSelector,
  type Event,
  type Interceptor,
  type Logger,
} from "../sdk/index.js";

/** The events of one notification for one channel. */
export interface Route {
  readonly name: string;
  readonly channel: Channel;
  /** Whether the notification is refused when the channel does not take it. */
  readonly required: boolean;
  readonly events: Event[];
  /** Each as its source made it, before the interceptors. */
  readonly origins: Event[];
}

export interface RoutesParts {
  /** In the order of execution. */
  readonly interceptors: readonly Interceptor[];
  /** Their names for messages, in the same order. */
  readonly interceptorNames?: readonly string[];
  readonly selector: ChannelSelector;
  /** The channels of the source by name. */
  readonly channels: ReadonlyMap<string, Channel>;
  readonly log: Logger;
}

/**
 * Chooses the channels of events: the interceptors one after the other, then the selector. What an interceptor makes is
 * checked: a channel could not get rid of what is no event.
 */
export class Routes {
  readonly #parts: RoutesParts;
  /** How often each fault occurred. */
  readonly #faults = new Map<string, number>();

  constructor(parts: RoutesParts) {
    this.#parts = parts;
  }

  /** Calls `unrouted` for each event without a channel. Throws code `EVENT_MALFORMED`. */
  of(events: readonly Event[], unrouted: (event: Event) => void): readonly Route[] {
    const routes: Route[] = [];
    for (const event of events) {
      const intercepted = this.#intercepted(event);
      if (intercepted === undefined) continue;
      const { required, optional } = this.#parts.selector.select(intercepted);
      if (required.length === 0 && optional.length === 0) unrouted(intercepted);
      for (const name of required) this.#add(routes, { name, required: true }, intercepted, event);
      for (const name of optional) this.#add(routes, { name, required: false }, intercepted, event);
    }
    return routes;
  }

  /** The event after all interceptors; undefined when one dropped it. */
  #intercepted(event: Event): Event | undefined {
    let current = event;
    let at = -1;
    for (const interceptor of this.#parts.interceptors) {
      at += 1;
      const made: Event | undefined = interceptor.intercept(current);
      if (made === undefined) return undefined;
      if (made !== current) this.#check(made, current, at);
      current = made;
    }
    return current;
  }

  #check(made: unknown, before: Event, at: number): void {
    const fault = eventFault(made, before);
    if (fault === undefined) return;
    // A promise that rejects, and that nothing awaits, would end the process.
    Promise.resolve(made).catch(() => undefined);
    const interceptor = this.#parts.interceptorNames?.[at] ?? `number ${at + 1}`;
    this.#count(interceptor, fault.is, fault.at);
    const place = fault.at === undefined ? "" : ` ("${fault.at}")`;
    throw new AgentError(
      "EVENT_MALFORMED",
      `interceptor "${interceptor}" returned ${fault.is}${place} in place of an event; its plugin must be corrected`,
      { retryable: false },
    );
  }

  /** One line for the first time, and for each power of ten. */
  #count(interceptor: string, returned: string, place: string | undefined): void {
    const key = `${interceptor}: ${returned}`;
    const count = (this.#faults.get(key) ?? 0) + 1;
    this.#faults.set(key, count);
    if (!Number.isInteger(Math.log10(count))) return;
    const where = place === undefined ? {} : { place };
    this.#parts.log.error(
      { interceptor, returned, ...where, count },
      "notification refused: an interceptor made no event",
    );
  }

  /** Looks through the routes: a source has few channels, and making a map for each notification costs more. */
  #add(routes: Route[], { name, required }: Pick<Route, "name" | "required">, event: Event, origin: Event): void {
    for (const route of routes) {
      if (route.name === name && route.required === required) {
        route.events.push(event);
        route.origins.push(origin);
        return;
      }
    }
    const channel = this.#parts.channels.get(name);
    if (channel === undefined) throw new Error(`selecting channel "${name}", which is not a channel of this source`);
    routes.push({ name, channel, required, events: [event], origins: [origin] });
  }
}
