import type { Logger } from "../../sdk/index.js";
import type { Erasures } from "../erasures.js";
import type { TakenBatch } from "./taken-batch.js";

/** The events of a batch that are not settled, without those that were erased while they waited. */
export function withoutErased(
  batch: TakenBatch,
  erasures: Pick<Erasures, "meant"> | undefined,
  log: Logger,
): TakenBatch {
  const open = batch.open();
  const erased = erasures?.meant(open.events) ?? [];
  if (erased.length === 0) return open;
  const count = batch.settle("filtered", erased);
  log.info({ events: count }, "erased events are left out");
  return batch.open();
}
