import type { Receipt, Sink } from "../../sdk/index.js";
import type { Course, Stage } from "./stage.js";
import type { TakenBatch } from "./taken-batch.js";

/** The sink of a plugin, at the end of the way: one batch in, one write. */
export class SinkStage implements Stage {
  readonly name = "sink";
  readonly plugin: Sink;

  constructor(plugin: Sink) {
    this.plugin = plugin;
  }

  async deliver(batch: TakenBatch, { signal }: Course): Promise<Receipt> {
    return await this.plugin.persist(batch.forSink(), signal);
  }
}
