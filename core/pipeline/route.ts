import type { Channel, Event } from "../sdk/index.js";

interface Way {
  readonly name: string;
  readonly channel: Channel;
  /** Whether the notification is refused when the channel does not take it. */
  readonly required: boolean;
}

/** The events of one notification for one channel. */
export interface Route extends Way {
  readonly events: Event[];
  /** Each as its source made it, before the interceptors. */
  readonly origins: Event[];
}

/** Looks through the routes: a source has few channels, and making a map for each notification costs more. */
export function append(routes: Route[], way: Way, event: Event, origin: Event): void {
  for (const route of routes) {
    if (route.name === way.name && route.required === way.required) {
      route.events.push(event);
      route.origins.push(origin);
      return;
    }
  }
  const { name, channel, required } = way;
  routes.push({ name, channel, required, events: [event], origins: [origin] });
}
