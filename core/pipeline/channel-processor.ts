import {
  type Channel,
  type ChannelSelector,
  type Event,
  type Interceptor,
  type Logger,
  reasonOf,
} from "../sdk/index.js";
import { CountedWarnings } from "./counted-warnings.js";
import { SourceCounters } from "./counters.js";
import { InterceptorChain } from "./interceptor-chain.js";
import { logContext } from "./log-context.js";
import { append, PutTogether, type Route } from "./put-together.js";
import { RefusedPuts } from "./refused-puts.js";

export interface ChannelProcessorParts {
  /** In the order of execution. */
  readonly interceptors: readonly Interceptor[];
  /** Their names for messages, in the same order. */
  readonly interceptorNames?: readonly string[];
  readonly selector: ChannelSelector;
  /** The channels of the source by name. */
  readonly channels: ReadonlyMap<string, Channel>;
  readonly log: Logger;
  /** Called with the number of events for which the selector chose no channel. */
  readonly unrouted?: (events: number) => void;
  /** Milliseconds of a clock; only differences matter. */
  readonly now?: () => number;
}

/** Everything between a source and its channels: interceptors, the selector, and the puts into the chosen channels. */
export class ChannelProcessor {
  readonly counters = new SourceCounters();
  readonly #parts: ChannelProcessorParts;
  readonly #chain: InterceptorChain;
  readonly #together = new PutTogether();
  readonly #refused: RefusedPuts;
  readonly #warnings: CountedWarnings;

  constructor(parts: ChannelProcessorParts) {
    const { interceptors, interceptorNames = [], log, now = () => performance.now() } = parts;
    this.#parts = parts;
    this.#chain = new InterceptorChain(interceptors, interceptorNames, log);
    this.#refused = new RefusedPuts(now);
    this.#warnings = new CountedWarnings({ log, now: () => new Date(performance.timeOrigin + now()) });
  }

  /** The `emit` of the source's context. */
  readonly emit = async (events: readonly Event[]): Promise<void> => {
    this.counters.received += 1;
    const routes = this.#routes(events);
    const required = routes.filter((route) => route.required);
    const only = required.length === 1 ? required[0] : undefined;
    if (only !== undefined && this.#isPlain(only)) await putAll(only);
    else if (required.length > 0) await this.#putTogether(required);
    for (const route of routes) if (!route.required) await this.#tryPut(route);
    this.counters.processed += 1;
    this.#parts.log.debug({ events: events.length, ...logContext(events) }, "events put in the channels");
  };

  #routes(events: readonly Event[]): readonly Route[] {
    const routes: Route[] = [];
    const unrouted: Event[] = [];
    for (const event of events) {
      const intercepted = this.#chain.intercept(event);
      if (intercepted === undefined) continue;
      const { required, optional } = this.#parts.selector.select(intercepted);
      if (required.length === 0 && optional.length === 0) unrouted.push(intercepted);
      for (const name of required) append(routes, this.#way(name, true), intercepted, event);
      for (const name of optional) append(routes, this.#way(name, false), intercepted, event);
    }
    if (unrouted.length > 0) this.#drop(unrouted);
    return routes;
  }

  /** A sender can cause this as often as it likes. */
  #drop(events: readonly Event[]): void {
    this.counters.unrouted += events.length;
    this.#parts.unrouted?.(events.length);
    const fields = { events: events.length, total: this.counters.unrouted, ...logContext(events) };
    this.#warnings.add("unrouted", { level: "warn", message: "events dropped: no channel chosen", fields });
  }

  /** Logs what was counted and not logged yet. */
  stop(): void {
    this.#warnings.flush();
  }

  #way(name: string, required: boolean) {
    const channel = this.#parts.channels.get(name);
    if (channel === undefined) throw new Error(`selecting channel "${name}", which is not a channel of this source`);
    return { name, channel, required };
  }

  /** Whether one transaction of the usual size is all there is to do. */
  #isPlain({ channel, events }: Route): boolean {
    return this.#refused.isEmpty && events.length <= channel.transactionCapacity;
  }

  async #putTogether(required: readonly Route[]): Promise<void> {
    const claim = this.#refused.claim(required);
    try {
      const { refusal, left } = await this.#together.put(claim.routes);
      if (refusal === undefined) return;
      this.#refused.remember(left);
      if (left.length > 0)
        this.#tellLeft(
          left.map(({ route }) => route),
          refusal.error,
        );
      throw refusal.error;
    } catch (error) {
      this.#refused.giveBack(claim);
      throw error;
    }
  }

  #tellLeft(routes: readonly Route[], error: unknown): void {
    const channels = routes.map(({ name }) => name);
    const context = logContext(routes.flatMap(({ events }) => events));
    this.#parts.log.warn(
      { channels, reason: reasonOf(error), ...context },
      "notification refused after these channels had it: they do not get it again when it is repeated soon",
    );
  }

  async #tryPut(route: Route): Promise<void> {
    try {
      const { refusal } = await this.#together.put([route]);
      if (refusal !== undefined) throw refusal.error;
    } catch (error) {
      const { name, events } = route;
      this.#parts.log.warn(
        { channel: name, events: events.length, reason: reasonOf(error), ...logContext(events) },
        "optional channel left out",
      );
    }
  }
}

function putAll({ channel, events }: Route): Promise<void> {
  const transaction = channel.openPut();
  for (const event of events) transaction.put(event);
  return transaction.commit();
}
