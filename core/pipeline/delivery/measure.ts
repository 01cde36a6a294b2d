import type { Receipt } from "../../sdk/index.js";
import type { Clock, TransactionObserver } from "../../tokens.js";
import type { SinkCounters } from "../counters.js";
import type { Course, Stage } from "./stage.js";
import type { TakenBatch } from "./taken-batch.js";

export interface MeasureParts {
  /** Of the sink or the group. */
  readonly sink: string;
  readonly counters: SinkCounters;
  readonly clock: Clock;
  readonly observer?: TransactionObserver;
}

/** Counts and reports every write, and settles the events of those that succeed. */
export class Measure implements Stage {
  readonly name = "measure";

  constructor(
    private readonly parts: MeasureParts,
    readonly next: Stage,
  ) {}

  async deliver(batch: TakenBatch, course: Course): Promise<Receipt> {
    const { sink, counters, clock, observer } = this.parts;
    const { events } = batch;
    const attempt = { sink, events, startedAt: clock.now() };
    let receipt: Receipt;
    try {
      receipt = await this.next.deliver(batch, course);
    } catch (error) {
      observer?.attempted({ ...attempt, finishedAt: clock.now(), receipt: undefined });
      throw error;
    }
    observer?.attempted({ ...attempt, finishedAt: clock.now(), receipt });
    counters.persisted += batch.settle("stored");
    return receipt;
  }
}
