import type { Receipt } from "../../sdk/index.js";
import type { Tracing } from "../../tokens.js";
import type { Course, Stage } from "./stage.js";
import type { TakenBatch } from "./taken-batch.js";

interface TraceParts {
  /** The sink or the group. */
  readonly sink: string;
  readonly channel: string;
  readonly tracing: Pick<Tracing, "delivery">;
}

/** Follows each batch that holds events of sampled notifications, with all its writes; only while tracing is on. */
export class Trace implements Stage {
  readonly name = "trace";
  readonly next: Stage;
  readonly #parts: TraceParts;

  constructor(parts: TraceParts, next: Stage) {
    this.#parts = parts;
    this.next = next;
  }

  async deliver(batch: TakenBatch, course: Course): Promise<Receipt> {
    const { sink, channel, tracing } = this.#parts;
    const trace = tracing.delivery({ sink, channel, events: batch.events });
    if (trace === undefined) return await this.next.deliver(batch, course);
    try {
      const receipt = await this.next.deliver(batch, { ...course, trace });
      trace.ended();
      return receipt;
    } catch (error) {
      trace.ended({ error });
      throw error;
    }
  }
}
