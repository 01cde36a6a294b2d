import { FailureLog } from "../../sdk/failure-log.js";
import type { Event, Logger } from "../../sdk/index.js";
import type { Clock } from "../../tokens.js";
import { FailureState } from "../failure-state.js";
import { intervalOf, type RetryPolicy } from "./retry-policy.js";
import type { TakenBatch } from "./taken-batch.js";

/** So often, at the intervals of retries, was the sink asked of an event before it becomes a dead letter. */
export const LEAST_TRIES = 3;
/** Of what is held back beside others, as JSON: it is in memory. */
const MOST_BYTES = 16 * 1024 * 1024;
/** Milliseconds, however long the intervals of retries are: the health shows only what the sink was asked of lately. */
const LONGEST_REST = 60_000;
/** An event that was not seen for so long is with another agent, which has its part of the channel now. */
const FORGOTTEN_MILLIS = 10 * 60 * 1000;

interface HeldEventsParts {
  readonly retry: RetryPolicy;
  readonly log: Logger;
  readonly clock: Clock;
  /** Milliseconds of a steady clock. */
  readonly steady: () => number;
}

/** The events of which a sink cannot tell whether it has them, and which wait for that. */
export class HeldEvents {
  /** Why events are held back. */
  readonly health: FailureState;
  readonly #parts: HeldEventsParts;
  readonly #failures: FailureLog;
  #known = new Map<Event, Known>();

  constructor(parts: HeldEventsParts) {
    this.#parts = parts;
    this.health = new FailureState(parts.clock);
    this.#failures = new FailureLog(parts.log, "the events that were held back can be stored again");
  }

  has(event: Event): boolean {
    return this.#known.has(event);
  }

  /** The sink could not tell of them once more. */
  note(error: unknown, events: readonly Event[]): void {
    const { retry, steady } = this.#parts;
    const now = steady();
    for (const event of events) {
      const known = this.#known.get(event);
      if (known === undefined) {
        const bytes = JSON.stringify(event).length;
        this.#known.set(event, { tries: 1, countedAt: now, seenAt: now, bytes });
        continue;
      }
      known.seenAt = now;
      if (now - known.countedAt < intervalOf(retry, known.tries)) continue;
      known.tries += 1;
      known.countedAt = now;
    }
    this.health.failed(error);
    const message = "events of which the sink cannot tell whether it has them are held back, the others go on";
    this.#failures.failed("warn", error, { message, fields: { events: events.length } });
  }

  /** Milliseconds until the sink is asked of these again while no others come. */
  restOf(events: readonly Event[]): number {
    const { retry } = this.#parts;
    const tries = events.reduce(
      (least, event) => Math.min(least, this.#known.get(event)?.tries ?? 1),
      Number.POSITIVE_INFINITY,
    );
    return Math.min(intervalOf(retry, tries), LONGEST_REST);
  }

  /** They wait no longer. */
  release(events: readonly Event[]): void {
    if (this.#known.size === 0) return;
    for (const event of events) this.#known.delete(event);
    const now = this.#parts.steady();
    for (const [event, { seenAt }] of this.#known) if (now - seenAt > FORGOTTEN_MILLIS) this.#known.delete(event);
    if (this.#known.size > 0) return;
    // A table of V8 that was held for long would keep what comes into the next one (decision 0086).
    this.#known = new Map();
    this.health.works();
    this.#failures.works();
  }

  /** Those of the batch that have an outcome, whichever way they got it, wait no longer. */
  releaseSettled(batch: TakenBatch): void {
    if (this.#known.size === 0) return;
    const open = new Set(batch.open().events);
    this.release(batch.events.filter((event) => !open.has(event)));
  }

  /** Those that no store may have and that have had their tries. */
  tried(held: TakenBatch): TakenBatch {
    const hadTries = (event: Event) => (this.#known.get(event)?.tries ?? 0) >= LEAST_TRIES;
    return held.only(held.events.filter((event) => hadTries(event) && !held.mayBeStored(event)));
  }

  /** Whether these are as many as may be held back. */
  isFull(events: readonly Event[], mostEvents: number): boolean {
    if (events.length >= mostEvents) return true;
    let bytes = 0;
    for (const event of events) bytes += this.#known.get(event)?.bytes ?? 0;
    return bytes >= MOST_BYTES;
  }
}

interface Known {
  /** How often, at the intervals of retries, the sink could not tell of it. */
  tries: number;
  countedAt: number;
  seenAt: number;
  /** Of its JSON. */
  readonly bytes: number;
}
