import type { Lifecycle } from "./lifecycle.js";
import type { Examined } from "./probe.js";

/**
 * What travels from a source through a channel to a sink: one entity of a notification, or whatever a source makes.
 *
 * Headers are short texts that route and describe the body; their names are lower case. The body must survive
 * `JSON.parse(JSON.stringify(body))` unchanged, so that any durable channel can keep it. Events are never changed
 * after they are handed on: an interceptor that alters one makes a new one.
 * @stable
 */
export interface Event<Body = unknown> {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Body;
}

/**
 * The header of an event that was a dead letter and is replayed: the id of the letter. A sink that keeps the ids with what
 * it stores, in one transaction, stores no letter twice.
 * @stable
 */
export const letterHeader = "deneb-dead-letter";

/** Looks at each event between a source and its channels. Most need no `start` and no `stop`. @stable */
export interface Interceptor extends Partial<Lifecycle>, Examined {
  /**
   * Returns the event, a new event in its place, or undefined to drop it; or a promise of one of these where something is
   * looked up. It may return a value for one event and a promise for the next. The events of a source stay in their order.
   *
   * The signal aborts when the answer is not waited for any longer: at the time limit, and when the source stops. For an
   * interceptor that does not name this second parameter it is one signal for all calls, which aborts at the stop only.
   */
  intercept(event: Event, signal: AbortSignal): Event | undefined | Promise<Event | undefined>;
  readonly tuning?: InterceptorTuning;
}

/** How promises of an interceptor are waited for. @stable */
export interface InterceptorTuning {
  /** The most calls that are waited for at a time; 16 when absent. Further events wait for their turn. */
  readonly concurrency?: number;
  /** Milliseconds until an event is refused, the wait for its turn included; 10,000 when absent. */
  readonly timeLimit?: number;
}

/** True for an object that is no array: what JSON calls an object. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What a JSON text holds; undefined when it is none. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
