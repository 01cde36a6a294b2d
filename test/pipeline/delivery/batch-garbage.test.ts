import assert from "node:assert/strict";
import { test } from "node:test";
import { Settlements } from "../../../core/pipeline/delivery/settlements.js";
import { TakenBatch } from "../../../core/pipeline/delivery/taken-batch.js";
import { collectGarbage, oldBytes } from "../../support/heap-used.js";

const ROUNDS = 20;
const EVENTS = 50;

/** About 3 KB. */
function event(at: number) {
  return { headers: { at: `${at}` }, body: Array.from({ length: 100 }, (_, member) => ({ at, member })) };
}

function deliverOne(): void {
  const events = Array.from({ length: EVENTS }, (_, at) => event(at));
  const batch = new TakenBatch(events, { whole: events, transaction: {}, settlements: new Settlements() }).forSink();
  assert.equal(batch.events.length, EVENTS);
}

test("events of a batch that nobody holds any more leave no garbage in the old generation", () => {
  deliverOne();
  collectGarbage();
  const before = oldBytes();

  for (let round = 0; round < ROUNDS; round += 1) {
    deliverOne();
    collectGarbage({ type: "minor" });
  }

  const bytes = oldBytes() - before;
  assert.ok(bytes < (ROUNDS * EVENTS * 3000) / 4, `${bytes} bytes`);
});
