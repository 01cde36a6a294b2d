import type { Logger } from "deneb/sdk";

/** Milliseconds behind a delay for which it counts: a client at its quota is not delayed at each request. */
const RECENT_MILLIS = 60_000;

/** What to do about it. */
export const QUOTA =
  "the brokers throttle this client: a quota of its user or client id is used up (producer_byte_rate, consumer_byte_rate or request_percentage)";

/**
 * Whether brokers delay this client because of a quota. They answer at once, say for how many milliseconds they will read nothing more of the
 * connection, and what is sent then is answered later, or not in time.
 */
export class Throttling {
  readonly #now: () => number;
  #log: Pick<Logger, "warn" | "info"> | undefined;
  #until = Number.NEGATIVE_INFINITY;
  #isLogged = false;

  /** `now` is a steady clock in milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Whether a request was delayed in the last minute. */
  get isRecent(): boolean {
    return this.#now() <= this.#until;
  }

  /** Has the begin and the end logged. */
  watch(log: Pick<Logger, "warn" | "info">): void {
    this.#log = log;
  }

  /** To be called with each answer of a broker. */
  note(answer: unknown): void {
    const millis = delayIn(answer);
    if (millis > 0) this.#delayed(millis);
    else if (this.#isLogged && !this.isRecent) this.#over();
  }

  #delayed(millis: number): void {
    this.#until = this.#now() + millis + RECENT_MILLIS;
    if (this.#isLogged || this.#log === undefined) return;
    this.#isLogged = true;
    this.#log.warn({ milliseconds: millis }, QUOTA);
  }

  #over(): void {
    this.#isLogged = false;
    this.#log?.info({}, "the brokers have not throttled this client for a minute");
  }
}

/** Each answer of Kafka that can be delayed has this member. */
function delayIn(answer: unknown): number {
  if (typeof answer !== "object" || answer === null || !("throttleTimeMs" in answer)) return 0;
  return typeof answer.throttleTimeMs === "number" ? answer.throttleTimeMs : 0;
}
