import { thrownCause } from "../sdk/causes.js";
import { frozenEvent, withRemedy } from "../sdk/frozen.js";
import {
  AgentError,
  type Channel,
  type ChannelSelector,
  type Event,
  retryableOf,
  type Selection,
} from "../sdk/index.js";
import { InterceptorChain, type InterceptorChainParts, Suspended } from "./interceptor-chain.js";

/** The events of one notification for one channel. */
export interface Route {
  readonly name: string;
  readonly channel: Channel;
  /** Whether the notification is refused when the channel does not take it. */
  readonly required: boolean;
  readonly events: Event[];
  /** Each as its source made it, before the interceptors; the same list while no interceptor made another event. */
  origins: Event[];
}

export interface RoutesParts extends InterceptorChainParts {
  readonly selector: ChannelSelector;
  /** The name and type of the source, for messages. */
  readonly sourceTitle?: string;
  /** Whether the plugin of the selector is one of others, for which events are frozen; false when absent. */
  readonly isSelectorOfOthers?: boolean;
  /** Its type, for messages. */
  readonly selectorName?: string;
  /** The channels of the source by name. */
  readonly channels: ReadonlyMap<string, Channel>;
}

/** Routes for which an interceptor looks something up. */
export class LateRoutes {
  readonly routes: Promise<readonly Route[]>;
  /** To be called when the puts have begun, or will not begin: then those of the next notification may. */
  readonly begun: () => void;

  constructor(routes: Promise<readonly Route[]>, begun: () => void) {
    this.routes = routes;
    this.begun = begun;
  }
}

/** Events for which the selector chose no channel. */
export class Unrouted {
  #events: Event[] | undefined;

  get events(): readonly Event[] {
    return this.#events ?? none;
  }

  add(event: Event): void {
    if (this.#events === undefined) this.#events = [event];
    else this.#events.push(event);
  }
}

const none: readonly never[] = [];

/** Chooses the channels of events: the interceptors one after the other, then the selector. */
export class Routes {
  readonly #parts: RoutesParts;
  readonly #chain: InterceptorChain;

  constructor(parts: RoutesParts) {
    this.#parts = parts;
    this.#chain = new InterceptorChain(parts);
  }

  /**
   * Notes each event without a channel. Throws code `EVENT_MALFORMED`, `INTERCEPTOR_FAILED` or
   * `SELECTOR_FAILED`; the promise of late routes rejects with them, or with `INTERCEPTOR_TIMED_OUT`.
   */
  of(events: readonly Event[], unrouted: Unrouted): readonly Route[] | LateRoutes {
    let routes: readonly Route[] = none;
    if (this.#chain.isWaiting) return this.#late(routes, events, undefined, unrouted);
    let at = 0;
    for (const event of events) {
      const intercepted = this.#chain.intercepted(event);
      if (intercepted instanceof Suspended) return this.#late(routes, events.slice(at), intercepted, unrouted);
      if (intercepted !== undefined) routes = this.#routed(routes, intercepted, event, unrouted);
      at += 1;
    }
    return routes;
  }

  /** What waits for an interceptor is refused. */
  abandon(): void {
    this.#chain.abandon();
  }

  #late(
    begun: readonly Route[],
    events: readonly Event[],
    first: Suspended | undefined,
    unrouted: Unrouted,
  ): LateRoutes {
    const walked = this.#chain.walk(events, first);
    const completed = async () => {
      let routes = begun;
      for (const [at, intercepted] of (await walked.events).entries()) {
        const origin = events[at];
        if (intercepted !== undefined && origin !== undefined)
          routes = this.#routed(routes, intercepted, origin, unrouted);
      }
      return routes;
    };
    return new LateRoutes(completed(), walked.passedOn);
  }

  /** The routes with one more event. */
  #routed(before: readonly Route[], event: Event, origin: Event, unrouted: Unrouted): readonly Route[] {
    const { required, optional } = this.#selected(event);
    if (required.length === 0 && optional.length === 0) unrouted.add(event);
    let routes = before;
    for (const name of distinct(required)) routes = this.#added(routes, { name, required: true }, event, origin);
    for (const name of distinct(optional)) {
      if (!required.includes(name)) routes = this.#added(routes, { name, required: false }, event, origin);
    }
    return routes;
  }

  #selected(event: Event) {
    const { selector, selectorName = "without a name", isSelectorOfOthers = false } = this.#parts;
    try {
      const given = isSelectorOfOthers ? frozenEvent(event) : event;
      const { required, optional }: Partial<Selection> = selector.select(given) ?? {};
      if (Array.isArray(required) && Array.isArray(optional)) return { required, optional };
    } catch (cause) {
      throw new AgentError("SELECTOR_FAILED", `choosing channels by selector "${selectorName}"`, {
        cause: thrownCause(isSelectorOfOthers ? withRemedy(cause) : cause),
        retryable: retryableOf(cause) ?? false,
      });
    }
    const message = `selector "${selectorName}" returned no lists "required" and "optional"; its plugin must be corrected`;
    throw new AgentError("SELECTOR_FAILED", message, { retryable: false });
  }

  /** Looks through the routes: a source has few channels, and making a map for each notification costs more. */
  #added(
    routes: readonly Route[],
    { name, required }: Pick<Route, "name" | "required">,
    event: Event,
    origin: Event,
  ): readonly Route[] {
    for (const route of routes) {
      if (route.name === name && route.required === required) {
        addTo(route, event, origin);
        return routes;
      }
    }
    const channel = this.#parts.channels.get(name);
    if (channel === undefined) throw this.#unknown(name);
    const events = [event];
    const route = { name, channel, required, events, origins: event === origin ? events : [origin] };
    // A list that grows from nothing has room for seventeen, and most notifications have one route.
    return routes.length === 0 ? [route] : [...routes, route];
  }

  #unknown(name: unknown): AgentError {
    const { selectorName = "without a name", sourceTitle = "without a name", channels } = this.#parts;
    const chosen = typeof name === "string" ? `"${name}"` : `a ${typeof name}`;
    const has = `which has ${[...channels.keys()].map((one) => `"${one}"`).join(", ")}`;
    const remedy = "correct its plugin, or name the channel in the properties of the source";
    const message = `selector "${selectorName}" chose the channel ${chosen} for an event of source ${sourceTitle}, ${has}; ${remedy}`;
    return new AgentError("SELECTOR_FAILED", message, { retryable: false });
  }
}

function addTo(route: Route, event: Event, origin: Event): void {
  if (route.origins === route.events && event !== origin) route.origins = [...route.events];
  if (route.origins !== route.events) route.origins.push(origin);
  route.events.push(event);
}

/** A channel that is named again does not get the event again. */
function distinct(names: readonly string[]): readonly string[] {
  return names.length < 2 ? names : [...new Set(names)];
}
