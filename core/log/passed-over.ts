import type { Logger } from "../sdk/index.js";
import type { Clocks } from "./agent-reports.js";
import type { PartQueue } from "./part-queue.js";
import type { ReadRecords } from "./read-edge.js";

interface PassedOverParts {
  readonly clocks: Clocks;
  readonly sessionMillis: number;
  /** True once a sink has taken: then it has told what it has stored. */
  hasTaken(): boolean;
  readonly logger: Logger;
}

interface Gap {
  /** By a steady clock. */
  readonly since: number;
  /** The record that showed it. */
  readonly before: number;
  isTold: boolean;
}

/**
 * Records that an agent has passed over: one that comes later says that it follows them. What is behind them waits while they may still be
 * found; what stays away for a session is gone. Of a part of which nothing is stored, records may be gone for long, and nothing is said
 * of them; a server that is behind may lack them for a moment only.
 */
export class PassedOver {
  readonly #parts: PassedOverParts;
  readonly since = new Map<number, Gap>();

  constructor(parts: PassedOverParts) {
    this.#parts = parts;
  }

  /** Whether what was read of a part is to be added to its queue, or is to wait; then the queue is before what was passed over. */
  look(queue: PartQueue, read: ReadRecords): "add" | "wait" {
    const lacking = queue.lacking(read);
    if (lacking === undefined) return "add";
    const now = this.#parts.clocks.steady();
    const known = this.since.get(queue.part);
    const isNew = known === undefined || lacking.offset >= known.before;
    const gap = isNew ? { since: now, before: lacking.before, isTold: false } : known;
    this.since.set(queue.part, gap);
    if (queue.isBegun && !gap.isTold) this.#tell(gap, queue.part, lacking.offset);
    if (!isNew && this.#isGone(queue, now - gap.since)) return "add";
    // What waits before it is kept: it may be gone from the log by now.
    if (lacking.offset < queue.next) queue.goBackTo(lacking.offset);
    return "wait";
  }

  #isGone({ isBegun }: PartQueue, millis: number): boolean {
    return millis >= this.#parts.sessionMillis && (isBegun || this.#parts.hasTaken());
  }

  #tell(gap: Gap, partition: number, offset: number): void {
    gap.isTold = true;
    const message =
      "a record of the log was not read although one that follows it was: it is looked for, and what follows it waits meanwhile";
    this.#parts.logger.warn({ partition, offset }, message);
  }
}
