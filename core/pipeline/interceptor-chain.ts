import { eventFault } from "../sdk/event-fault.js";
import { AgentError, type Event, type Interceptor, type Logger } from "../sdk/index.js";

/** Interceptors one after the other. What one of them makes is checked: a channel could not get rid of what is no event. */
export class InterceptorChain {
  readonly #interceptors: readonly Interceptor[];
  readonly #names: readonly string[];
  readonly #log: Logger;
  /** How often each fault occurred. */
  readonly #faults = new Map<string, number>();

  /** `names` as in the configuration, in the order of the interceptors. */
  constructor(interceptors: readonly Interceptor[], names: readonly string[], log: Logger) {
    this.#interceptors = interceptors;
    this.#names = names;
    this.#log = log;
  }

  /** The event after all interceptors; undefined when one dropped it. Throws code `EVENT_MALFORMED`. */
  intercept(event: Event): Event | undefined {
    let current = event;
    let at = -1;
    for (const interceptor of this.#interceptors) {
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
    const interceptor = this.#names[at] ?? `number ${at + 1}`;
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
    this.#log.error({ interceptor, returned, ...where, count }, "notification refused: an interceptor made no event");
  }
}
