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
    const routes = this.#route(events);
    for (const [name, chosen] of routes.required) await this.#put(name, chosen);
    for (const [name, chosen] of routes.optional) await this.#tryPut(name, chosen);
    this.counters.processed += 1;
    this.#parts.log.debug({ events: events.length, ...logContext(events) }, "events put in the channels");
  };

  #route(events: readonly Event[]): { required: Map<string, Event[]>; optional: Map<string, Event[]> } {
    const required = new Map<string, Event[]>();
    const optional = new Map<string, Event[]>();
    const unrouted: Event[] = [];
    for (const event of events) {
      const intercepted = this.#intercept(event);
      if (intercepted === undefined) continue;
      const selection = this.#parts.selector.select(intercepted);
      if (selection.required.length === 0 && selection.optional.length === 0) unrouted.push(intercepted);
      for (const name of selection.required) append(required, name, intercepted);
      for (const name of selection.optional) append(optional, name, intercepted);
    }
    if (unrouted.length > 0) {
      this.#parts.log.warn({ events: unrouted.length, ...logContext(unrouted) }, "events dropped: no channel chosen");
    }
    return { required, optional };
  }

  #intercept(event: Event): Event | undefined {
    let current: Event | undefined = event;
    for (const interceptor of this.#parts.interceptors) {
      if (current === undefined) return undefined;
      current = interceptor.intercept(current);
    }
    return current;
  }

  /** One transaction, or several in a row for a notification larger than one may be: refusing it would lose it all. */
  async #put(name: string, events: readonly Event[]): Promise<void> {
    const channel = this.#parts.channels.get(name);
    if (channel === undefined) throw new Error(`selecting channel "${name}", which is not a channel of this source`);
    const most = channel.transactionCapacity;
    for (let from = 0; from < events.length; from += most) {
      const transaction = channel.openPut();
      for (const event of from === 0 && events.length <= most ? events : events.slice(from, from + most)) {
        transaction.put(event);
      }
      await transaction.commit();
    }
  }

  async #tryPut(name: string, events: readonly Event[]): Promise<void> {
    try {
      await this.#put(name, events);
    } catch (error) {
      this.#parts.log.warn(
        { channel: name, events: events.length, reason: reasonOf(error), ...logContext(events) },
        "optional channel left out",
      );
    }
  }
}

function append(routes: Map<string, Event[]>, name: string, event: Event): void {
  const events = routes.get(name);
  if (events === undefined) routes.set(name, [event]);
  else events.push(event);
}
