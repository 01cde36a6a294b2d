import type { Logger, Receipt } from "../../sdk/index.js";
import type { ChannelOutlet } from "./channel-outlet.js";
import { type Course, nothingSent, type Stage } from "./stage.js";
import type { TakenBatch } from "./taken-batch.js";

interface KeptElsewhereParts {
  readonly outlet: Pick<ChannelOutlet, "letters">;
  readonly log: Logger;
}

/**
 * Leaves out events of which another agent has written a dead letter since they were taken. An agent that is held up, by its store or as a
 * whole, loses its parts to others, and what they could not store moves no position of the store that would keep it from being stored here.
 */
export class KeptElsewhere implements Stage {
  readonly name = "kept elsewhere";
  readonly next: Stage;
  readonly #parts: KeptElsewhereParts;

  constructor(parts: KeptElsewhereParts, next: Stage) {
    this.#parts = parts;
    this.next = next;
  }

  async deliver(batch: TakenBatch, course: Course): Promise<Receipt> {
    const { outlet, log } = this.#parts;
    const { letters } = outlet;
    if (letters === undefined || !batch.isShared) return await this.next.deliver(batch, course);
    await letters.upToDate(course.hurry);
    const kept = batch.withLetters(letters);
    if (kept.length === 0) return await this.next.deliver(batch, course);
    batch.settle("dead-lettered", kept);
    log.info({ events: kept.length }, "events that have a dead letter of another agent meanwhile are left out");
    const open = batch.open();
    return open.events.length === 0 ? nothingSent : await this.next.deliver(open, course);
  }
}
