import type { Logger } from "../sdk/index.js";
import type { Clocks } from "./agent-reports.js";
import type { PartQueue } from "./part-queue.js";
import type { ReadRecords } from "./read-edge.js";

/** From one beginning with a part to the next, while a record of it stays away. */
const AGAIN_MILLIS = 250;

interface PassedOverParts {
  readonly clocks: Clocks;
  readonly sessionMillis: number;
  /** True once a sink has taken: then it has told what it has stored. */
  hasTaken(): boolean;
  readonly logger: Logger;
}

interface Gap {
  /** By a steady clock, as all times here. */
  readonly since: number;
  /** The record that showed it. */
  readonly before: number;
  begunAt: number;
  isTold: boolean;
}

/**
 * Records that an agent has passed over: one that comes later says that it follows them. What is behind them waits while they may still be
 * found; what stays away for a session is gone. Of a part of which nothing is stored, records may be gone for long: it is begun with
 * again once.
 */
export class PassedOver {
  readonly #parts: PassedOverParts;
  readonly since = new Map<number, Gap>();

  constructor(parts: PassedOverParts) {
    this.#parts = parts;
  }

  /** Whether what was read of a part is to be added to its queue, is to wait, or the part is to be begun with again. */
  look(queue: PartQueue, read: ReadRecords): "add" | "wait" | "again" {
    const lacking = queue.lacking(read);
    if (lacking === undefined) return "add";
    const now = this.#parts.clocks.steady();
    const known = this.since.get(queue.part);
    const isNew = known === undefined || lacking.offset >= known.before;
    const gap = isNew ? { since: now, before: lacking.before, begunAt: now, isTold: false } : known;
    this.since.set(queue.part, gap);
    if (queue.isBegun && !gap.isTold) this.#tell(gap, queue.part, lacking.offset);
    if (isNew) return "again";
    if (this.#isGone(queue, now - gap.since)) return "add";
    if (now - gap.begunAt < AGAIN_MILLIS) return "wait";
    gap.begunAt = now;
    return "again";
  }

  #isGone({ isBegun }: PartQueue, millis: number): boolean {
    return isBegun ? millis >= this.#parts.sessionMillis : this.#parts.hasTaken();
  }

  #tell(gap: Gap, partition: number, offset: number): void {
    gap.isTold = true;
    const message =
      "a record of the log was not read although one that follows it was: the partition is read again from what is stored of it";
    this.#parts.logger.warn({ partition, offset }, message);
  }
}
