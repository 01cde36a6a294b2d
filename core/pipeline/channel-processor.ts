import {
  type Channel,
  type ChannelSelector,
  type Event,
  type Interceptor,
  type Logger,
  reasonOf,
} from "../sdk/index.js";
import { SourceCounters } from "./counters.js";
import { logContext } from "./log-context.js";

export interface ChannelProcessorParts {
  /** In the order of execution. */
  readonly interceptors: readonly Interceptor[];
  readonly selector: ChannelSelector;
  /** The channels of the source by name. */
  readonly channels: ReadonlyMap<string, Channel>;
  readonly log: Logger;
}

/** Everything between a source and its channels: interceptors, the selector, and one put per chosen channel. */
export class ChannelProcessor {
  readonly counters = new SourceCounters();
  readonly #parts: ChannelProcessorParts;

  constructor(parts: ChannelProcessorParts) {
    this.#parts = parts;
  }

  /** The `emit` of the source's context. */
  readonly emit = async (events: readonly Event[]): Promise<void> => {
    this.counters.received += 1;
    const routes = this.#routes(events);
    for (const route of routes) if (route.required) await this.#put(route);
    for (const route of routes) if (!route.required) await this.#tryPut(route);
    this.counters.processed += 1;
    this.#parts.log.debug({ events: events.length, ...logContext(events) }, "events put in the channels");
  };

  #routes(events: readonly Event[]): readonly Route[] {
    const routes: Route[] = [];
    const unrouted: Event[] = [];
    for (const event of events) {
      const intercepted = this.#intercept(event);
      if (intercepted === undefined) continue;
      const { required, optional } = this.#parts.selector.select(intercepted);
      if (required.length === 0 && optional.length === 0) unrouted.push(intercepted);
      for (const name of required) append(routes, intercepted, { name, required: true });
      for (const name of optional) append(routes, intercepted, { name, required: false });
    }
    if (unrouted.length > 0) {
      this.#parts.log.warn({ events: unrouted.length, ...logContext(unrouted) }, "events dropped: no channel chosen");
    }
    return routes;
  }

  #intercept(event: Event): Event | undefined {
    let current: Event | undefined = event;
    for (const interceptor of this.#parts.interceptors) {
      if (current === undefined) return undefined;
      current = interceptor.intercept(current);
    }
    return current;
  }

  #put({ name, events }: Route): Promise<void> {
    const channel = this.#parts.channels.get(name);
    if (channel === undefined) throw new Error(`selecting channel "${name}", which is not a channel of this source`);
    return events.length <= channel.transactionCapacity ? putAll(channel, events) : putInParts(channel, events);
  }

  async #tryPut(route: Route): Promise<void> {
    try {
      await this.#put(route);
    } catch (error) {
      const { name, events } = route;
      this.#parts.log.warn(
        { channel: name, events: events.length, reason: reasonOf(error), ...logContext(events) },
        "optional channel left out",
      );
    }
  }
}

interface Way {
  readonly name: string;
  /** Whether the notification is refused when the channel does not take it. */
  readonly required: boolean;
}

/** The events for one channel. */
interface Route extends Way {
  readonly events: Event[];
}

/** Looks through the routes: a source has few channels, and making a map for each notification costs more. */
function append(routes: Route[], event: Event, { name, required }: Way): void {
  for (const route of routes) {
    if (route.name === name && route.required === required) {
      route.events.push(event);
      return;
    }
  }
  routes.push({ name, required, events: [event] });
}

function putAll(channel: Channel, events: readonly Event[]): Promise<void> {
  const transaction = channel.openPut();
  for (const event of events) transaction.put(event);
  return transaction.commit();
}

/** Several transactions in a row for a notification larger than one may be: refusing it would lose it all. */
async function putInParts(channel: Channel, events: readonly Event[]): Promise<void> {
  const most = channel.transactionCapacity;
  for (let from = 0; from < events.length; from += most) await putAll(channel, events.slice(from, from + most));
}
