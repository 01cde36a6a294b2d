import { describedFault, type EventFault, eventFault, headerFault, isEvent } from "../sdk/event-fault.js";
import { frozenEvent, withRemedy } from "../sdk/frozen.js";
import { AgentError, codeOf, type Event, type Interceptor, type Logger, reasonOf, retryableOf } from "../sdk/index.js";
import { type Begun, Lookups } from "./lookups.js";
import { heardByMany } from "./supervision.js";

/** An interceptor of a source. */
export interface ChainedInterceptor {
  readonly interceptor: Interceptor;
  /** Its name and type for messages. */
  readonly title: string;
  /** Whether its plugin is one of others, for which events are frozen; false when absent. */
  readonly isOfOthers?: boolean;
}

export interface InterceptorChainParts {
  /** In the order of execution. */
  readonly interceptors: readonly ChainedInterceptor[];
  readonly log: Logger;
}

/** An event whose interceptor returned a promise. */
export class Suspended {
  readonly before: Event;
  readonly at: number;
  readonly begun: Begun;

  constructor(before: Event, at: number, begun: Begun) {
    this.before = before;
    this.at = at;
    this.begun = begun;
  }
}

/** The events of a notification that waits for its interceptors. */
interface Walked {
  /** In the order of the events; undefined for one that was dropped. */
  readonly events: Promise<readonly (Event | undefined)[]>;
  /** To be called when these events are on their way: those of the next notification follow. */
  passedOn(): void;
}

/**
 * Leads events through the interceptors of a source, one after the other. What an interceptor makes is checked: a channel
 * could not get rid of what is no event. While nothing is a promise, nothing is awaited.
 *
 * Where something is, a notification passes one interceptor after the other with all of its events. Each interceptor is
 * called in the order of the events, and no notification overtakes another one.
 */
export class InterceptorChain {
  readonly #stages: readonly Stage[];
  readonly #log: Logger;
  readonly #abandoned = new AbortController();
  /** Notifications that wait. */
  #waiting = 0;
  /** Settles when the last notification that waits is on its way. */
  #last: Promise<void> = Promise.resolve();
  /** How often each fault occurred. */
  readonly #faults = new Map<string, number>();

  constructor({ interceptors, log }: InterceptorChainParts) {
    const signal = heardByMany(this.#abandoned.signal);
    this.#log = log;
    this.#stages = interceptors.map(({ interceptor, title, isOfOthers = false }, at) => ({
      title,
      isOfOthers,
      at,
      interceptor,
      hearsEach: interceptor.intercept.length > 1,
      lookups: new Lookups(interceptor.tuning ?? {}, signal),
      left: Promise.resolve(),
    }));
  }

  /** True while events would have to wait for those before them. */
  get isWaiting(): boolean {
    return this.#waiting > 0;
  }

  /** The event after all interceptors; undefined when one dropped it. Only while nothing waits. */
  intercepted(event: Event): Event | undefined | Suspended {
    let current = event;
    for (const stage of this.#stages) {
      const begun = stage.hearsEach ? this.#begin(stage, current) : undefined;
      const made = begun === undefined ? this.#call(stage, current, this.#abandoned.signal) : begun.made;
      const judged = this.#judged(stage, made, current);
      if (judged === promised) return new Suspended(current, stage.at, begun ?? { made, abort: nothing });
      if (judged === undefined) return undefined;
      current = judged;
    }
    return current;
  }

  /** Leads the events of a notification on, the first of them from where it waits. */
  walk(events: readonly Event[], first: Suspended | undefined): Walked {
    this.#waiting += 1;
    const before = this.#last;
    let passedOn = () => {};
    this.#last = new Promise((resolve) => {
      passedOn = () => {
        this.#waiting -= 1;
        passedOn = () => {};
        resolve();
      };
    });
    const steps = events.map(
      (event, index): Step =>
        index === 0 && first !== undefined
          ? { current: first.before, next: first.at, begun: first.begun }
          : { current: event, next: 0, begun: undefined },
    );
    return { events: this.#walked(steps, before), passedOn: () => passedOn() };
  }

  /** Nothing is waited for any longer: notifications that wait are refused. Safe to call twice. */
  abandon(): void {
    this.#abandoned.abort();
  }

  async #walked(steps: readonly Step[], before: Promise<void>): Promise<readonly (Event | undefined)[]> {
    let leave = () => {};
    try {
      for (const stage of this.#stages) {
        const left = stage.left;
        const results = steps.map((step) => this.#passed(stage, step));
        leave();
        stage.left = new Promise((resolve) => {
          leave = resolve;
        });
        const passed = await Promise.allSettled(results);
        await left;
        for (const [index, result] of passed.entries()) {
          if (result.status === "rejected") throw result.reason;
          const step = steps[index];
          if (step !== undefined) step.current = result.value;
        }
      }
      await before;
    } finally {
      leave();
    }
    return steps.map(({ current }) => current);
  }

  /** The event of a step behind one interceptor. The call is made before this returns, or in its turn. */
  async #passed(stage: Stage, { current, next, begun }: Step): Promise<Event | undefined> {
    if (current === undefined || next > stage.at) return current;
    const before = current;
    const call = next === stage.at && begun !== undefined ? () => begun : () => this.#begin(stage, before);
    let made: unknown;
    try {
      made = await stage.lookups.run(call);
    } catch (error) {
      throw isNamed(error) ? error : this.#failed(stage, error, retryableOf(error) ?? true);
    }
    const judged = this.#judged(stage, made, before);
    return judged === promised ? undefined : judged;
  }

  #begin(stage: Stage, event: Event): Begun {
    if (!stage.hearsEach) return { made: this.#call(stage, event, this.#abandoned.signal), abort: nothing };
    const own = new AbortController();
    return { made: this.#call(stage, event, own.signal), abort: () => own.abort() };
  }

  #call(stage: Stage, event: Event, signal: AbortSignal): Event | undefined | Promise<Event | undefined> {
    try {
      return stage.interceptor.intercept(stage.isOfOthers ? frozenEvent(event) : event, signal);
    } catch (error) {
      throw this.#failed(stage, error, retryableOf(error) ?? false);
    }
  }

  /** What was made, if it is an event or nothing; throws code `EVENT_MALFORMED` otherwise. */
  #judged(stage: Stage, made: unknown, before: Event): Event | undefined | typeof promised {
    if (made === undefined) return undefined;
    let fault: EventFault | undefined;
    try {
      // One that returns the event it was given may have changed its headers.
      fault = made === before ? headerFault(before.headers) : eventFault(made, before);
      if (fault === undefined && isEvent(made)) return stage.isOfOthers ? frozenEvent(made) : made;
    } catch (error) {
      // A getter or a proxy of the plugin.
      throw this.#failed(stage, error, false);
    }
    if (fault?.is === "a promise") return promised;
    const { is, at } = fault ?? { is: "no event" };
    const where = at === undefined ? {} : { place: at };
    this.#tell(`${stage.title}: ${is}`, { interceptor: stage.title, returned: is, ...where }, "made no event");
    throw new AgentError(
      "EVENT_MALFORMED",
      `interceptor ${stage.title} returned ${describedFault({ is, ...(at === undefined ? {} : { at }) })}; its plugin must be corrected`,
      { retryable: false },
    );
  }

  /** The cause is only logged: the message goes to the sender of the notification, who need not know addresses. */
  #failed({ title, isOfOthers }: Stage, thrown: unknown, retryable: boolean): AgentError {
    const cause = isOfOthers === true ? withRemedy(thrown) : thrown;
    const code = retryableOf(cause) === undefined ? undefined : codeOf(cause);
    this.#tell(`${title}: failed`, { interceptor: title, reason: reasonOf(cause) }, "failed");
    const detail = code === "INTERCEPTOR_TIMED_OUT" ? `: ${reasonOf(cause)}` : "";
    const error = new AgentError(code ?? "INTERCEPTOR_FAILED", `interceptor ${title} failed${detail}`, { retryable });
    named.add(error);
    return error;
  }

  /** One line for the first time, and for each power of ten. */
  #tell(key: string, fields: object, what: "made no event" | "failed"): void {
    const count = (this.#faults.get(key) ?? 0) + 1;
    this.#faults.set(key, count);
    if (!Number.isInteger(Math.log10(count))) return;
    this.#log.error({ ...fields, count }, `notification refused: an interceptor ${what}`);
  }
}

interface Stage extends ChainedInterceptor {
  readonly at: number;
  /** Whether each call has a signal of its own, which costs. */
  readonly hearsEach: boolean;
  readonly lookups: Lookups;
  /** Settles when the notification that came last has left. */
  left: Promise<void>;
}

interface Step {
  current: Event | undefined;
  readonly next: number;
  readonly begun: Begun | undefined;
}

/** Errors that name their interceptor already. */
const named = new WeakSet<AgentError>();

function isNamed(error: unknown): boolean {
  return error instanceof AgentError && named.has(error);
}

const promised = Symbol("promised");

function nothing(): void {}
