import { atOnce } from "../sdk/at-once.js";
import { describedFault, eventsFault } from "../sdk/event-fault.js";
import { FailureLog } from "../sdk/failure-log.js";
import { frozenEvent } from "../sdk/frozen.js";
import { AgentError, type Event, type Logger, reasonOf } from "../sdk/index.js";
import { CountedWarnings } from "./counted-warnings.js";
import { SourceCounters } from "./counters.js";
import { logContext } from "./log-context.js";
import { PutTogether } from "./put-together.js";
import { RefusedPuts } from "./refused-puts.js";
import { LateRoutes, type Route, Routes, type RoutesParts, Unrouted } from "./routes.js";

interface ChannelProcessorParts extends RoutesParts {
  /** If the logger knows its level, it is asked before the fields are made. */
  readonly log: Logger & { isLevelEnabled?(level: "debug"): boolean };
  /** Whether the plugin of the source is one of others, whose events are frozen; false when absent. */
  readonly isSourceOfOthers?: boolean;
  /** Called with the number of events for which the selector chose no channel. */
  readonly unrouted?: (events: number) => void;
  /** Milliseconds of a clock; only differences matter. */
  readonly now?: () => number;
}

/** Everything between a source and its channels: chooses the channels of its events and puts these into them. */
export class ChannelProcessor {
  readonly counters = new SourceCounters();
  readonly #parts: ChannelProcessorParts;
  readonly #routes: Routes;
  readonly #together = new PutTogether();
  readonly #warnings: CountedWarnings;
  readonly #now: () => number;
  /** By optional channel. */
  readonly #leftOut = new Map<string, LeftOut>();
  /** Undefined while no channel holds a part of a refused notification. */
  #refused: RefusedPuts | undefined;
  #stopped = false;

  constructor(parts: ChannelProcessorParts) {
    const { log, now = () => performance.now() } = parts;
    this.#parts = parts;
    this.#routes = new Routes(parts);
    this.#now = now;
    this.#warnings = new CountedWarnings({ log, now: () => new Date(performance.timeOrigin + now()) });
  }

  /** The `emit` of the source's context; returns `atOnce` where the only channel has the events already. */
  readonly emit = (events: readonly Event[]): Promise<void> => {
    if (this.#stopped) return Promise.reject(this.#afterStop());
    this.counters.received += 1;
    try {
      const putting = this.#put(events);
      if (putting !== atOnce) return this.#emitting(putting, events);
      this.#emitted(events);
      return atOnce;
    } catch (error) {
      return Promise.reject(error);
    }
  };

  // No async function: see `CountedPut`.
  #emitting(putting: Promise<void>, events: readonly Event[]): Promise<void> {
    return putting.then(() => this.#emitted(events));
  }

  #put(events: readonly Event[]): Promise<void> {
    const unrouted = new Unrouted();
    const routes = this.#routes.of(events, unrouted);
    if (routes instanceof LateRoutes) return this.#putLate(routes, unrouted);
    this.#drop(unrouted);
    const only = routes.length === 1 ? routes[0] : undefined;
    return only?.required === true && this.#isPlain(only) ? putAll(only) : this.#putIn(routes);
  }

  #emitted(events: readonly Event[]): void {
    this.counters.processed += 1;
    const { log } = this.#parts;
    // This runs for every notification: the fields are made only for a line that is written.
    if (log.isLevelEnabled?.("debug") !== false)
      log.debug({ events: events.length, ...logContext(events) }, "events put in the channels");
  }

  /** The `emit` of the context of a source. The source may be of a plugin of others: its events are checked first. */
  readonly emitChecked = async (events: readonly Event[]): Promise<void> => {
    const fault = eventsFault(events);
    const { sourceTitle: source = "without a name", isSourceOfOthers = false } = this.#parts;
    if (fault === undefined) {
      if (isSourceOfOthers) for (const event of events) frozenEvent(event);
      return await this.emit(events);
    }
    const place = fault.at === undefined ? {} : { place: fault.at };
    const fields = { source, emitted: fault.is, ...place };
    this.#warnings.add("malformed", { level: "error", message: "refused what a source emitted: no events", fields });
    throw new AgentError(
      "EVENT_MALFORMED",
      `source ${source} emitted ${describedFault(fault)}; its plugin must be corrected`,
      { retryable: false },
    );
  };

  #afterStop(): AgentError {
    const { sourceTitle: source = "without a name" } = this.#parts;
    const message = `taking events of source ${source}, which has stopped; its plugin must end every loop in stop`;
    return new AgentError("SOURCE_STOPPED", message, { retryable: true });
  }

  async #putLate({ routes, begun }: LateRoutes, unrouted: Unrouted): Promise<void> {
    let putting: Promise<void>;
    try {
      const known = await routes;
      this.#drop(unrouted);
      putting = this.#putIn(known);
    } finally {
      begun();
    }
    await putting;
  }

  async #putIn(routes: readonly Route[]): Promise<void> {
    const required = routes.filter((route) => route.required);
    const only = required.length === 1 ? required[0] : undefined;
    if (only !== undefined && this.#isPlain(only)) await putAll(only);
    else if (required.length > 0) await this.#putTogether(required);
    if (required.length === routes.length) return;
    await Promise.all(routes.map((route) => (route.required ? undefined : this.#tryPut(route))));
  }

  /** A sender can cause this as often as it likes. */
  #drop({ events }: Unrouted): void {
    if (events.length === 0) return;
    this.counters.unrouted += events.length;
    this.#parts.unrouted?.(events.length);
    const fields = { events: events.length, total: this.counters.unrouted, ...logContext(events) };
    this.#warnings.add("unrouted", { level: "warn", message: "events dropped: no channel chosen", fields });
  }

  /** Refuses what waits for an interceptor; it may be accepted later. */
  abandon(): void {
    this.#routes.abandon();
  }

  /** Refuses all events from now on: the source has stopped, and the channels must become empty. Logs what was counted. */
  stop(): void {
    this.#stopped = true;
    this.abandon();
    this.#warnings.flush();
  }

  /** Whether one transaction of the usual size is enough. */
  #isPlain({ channel, events }: Route): boolean {
    return this.#refused === undefined && events.length <= channel.transactionCapacity;
  }

  async #putTogether(required: readonly Route[]): Promise<void> {
    const claim = this.#refused?.claim(required) ?? { routes: required, keys: [] };
    try {
      const { refusal, left } = await this.#together.put(claim.routes);
      if (refusal === undefined) return;
      if (left.length > 0) {
        this.#remembered().remember(left);
        this.#tellLeft(
          left.map(({ route }) => route),
          refusal.error,
        );
      }
      throw refusal.error;
    } catch (error) {
      if (claim.keys.length > 0) this.#remembered().giveBack(claim);
      throw error;
    } finally {
      if (this.#refused?.isEmpty === true) this.#refused = undefined;
    }
  }

  #remembered(): RefusedPuts {
    this.#refused ??= new RefusedPuts(this.#now);
    return this.#refused;
  }

  /** While the disk of a later channel fails this happens with each notification. */
  #tellLeft(routes: readonly Route[], error: unknown): void {
    const channels = routes.map(({ name }) => name);
    const fields = { channels, reason: reasonOf(error), ...logContext(routes.flatMap(({ events }) => events)) };
    const message =
      "notification refused after these channels had it: they do not get it again when it is repeated soon";
    this.#warnings.add(`left in ${channels.join(" ")}`, { level: "warn", message, fields });
  }

  /** Never rejects. The sender waits for an optional channel too, but only once while it stays full. */
  async #tryPut(route: Route): Promise<void> {
    const { name, events } = route;
    const before = this.#leftOut.get(name);
    const isPatient = before === undefined || this.#now() - before.at >= UNTIL_PATIENT;
    try {
      const { refusal } = await (isPatient ? this.#together.put([route]) : this.#together.putAtOnce(route));
      if (refusal !== undefined) throw refusal.error;
      this.#leftOut.get(name)?.failures.works({ channel: name });
    } catch (error) {
      const known = this.#leftOut.get(name);
      const failures = known?.failures ?? new FailureLog(this.#parts.log, "optional channel takes events again");
      this.#leftOut.set(name, { failures, at: this.#now() });
      const fields = { channel: name, events: events.length, ...logContext(events) };
      failures.failed("warn", error, { message: "optional channel left out", fields });
    }
  }
}

/** An optional channel that was left out is not waited for during these milliseconds. */
const UNTIL_PATIENT = 10_000;

interface LeftOut {
  readonly failures: FailureLog;
  /** The last time, by the clock of the processor. */
  readonly at: number;
}

function putAll({ channel, events }: Route): Promise<void> {
  const transaction = channel.openPut();
  for (const event of events) transaction.put(event);
  return transaction.commit();
}
