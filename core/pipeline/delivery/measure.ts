import type { Event, Receipt } from "../../sdk/index.js";
import type { Clock, TransactionObserver } from "../../tokens.js";
import type { SinkCounters } from "../counters.js";
import { storedDespite } from "./named-failure.js";
import { type Course, nothingSent, type Stage } from "./stage.js";
import type { TakenBatch } from "./taken-batch.js";

interface MeasureParts {
  /** Of the sink or the group. */
  readonly sink: string;
  readonly counters: SinkCounters;
  readonly clock: Clock;
  readonly observer?: TransactionObserver;
}

/** Counts and reports every write, and settles the events that are stored. */
export class Measure implements Stage {
  readonly name = "measure";
  readonly next: Stage;
  readonly #parts: MeasureParts;

  constructor(parts: MeasureParts, next: Stage) {
    this.#parts = parts;
    this.next = next;
  }

  async deliver(batch: TakenBatch, course: Course): Promise<Receipt> {
    const { sink, counters, clock, observer } = this.#parts;
    const { events } = batch;
    const attempt = { sink, events, startedAt: clock.now() };
    let receipt: Receipt;
    try {
      receipt = await this.next.deliver(batch, course);
    } catch (error) {
      const stored = storedDespite(error, events);
      const failed = without(events, stored);
      const finishedAt = clock.now();
      counters.persisted += batch.settle("stored", stored);
      if (stored.length > 0) observer?.attempted({ ...attempt, events: stored, finishedAt, receipt: nothingSent });
      observer?.attempted({ ...attempt, events: failed, finishedAt, receipt: undefined, error });
      course.trace?.failed({ attempt: course.attempt, events: failed.length, stored: stored.length, error });
      throw error;
    }
    const finishedAt = clock.now();
    // Before it is reported: a report that fails must not have it written again.
    const elsewhere = batch.settleLeftOut(receipt.elsewhere ?? []);
    counters.persisted += batch.settle("stored");
    const written = without(events, receipt.elsewhere ?? []);
    observer?.attempted({ ...attempt, events: written, finishedAt, receipt });
    course.trace?.stored(events.length - elsewhere);
    return receipt;
  }
}

function without(events: readonly Event[], some: readonly Event[]): readonly Event[] {
  if (some.length === 0) return events;
  const left = new Set(some);
  return events.filter((event) => !left.has(event));
}
