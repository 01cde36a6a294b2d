import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { DeadLetters } from "../../../core/pipeline/dead-letters/dead-letters.js";
import { Settlements } from "../../../core/pipeline/delivery/settlements.js";
import { TakenBatch } from "../../../core/pipeline/delivery/taken-batch.js";
import type { Event, Sink } from "../../../core/sdk/index.js";
import { chainTo, deliver } from "../../support/delivering.js";
import { recordingLog } from "../../support/recording-log.js";
import { tempFolder } from "../../support/temp-folder.js";

const events: readonly Event[] = ["a", "b", "c"].map((body) => ({ headers: {}, body }));
const positions = {
  shared: true,
  after: (count: number) => `c:${count}`,
  coveredBy: () => [],
  idOf: () => undefined,
};

async function setUp(context: TestContext, members: Pick<Sink, "persist" | "positions">) {
  const sink: Sink = { start: async () => {}, stop: async () => {}, ...members };
  const deadLetters = new DeadLetters(await tempFolder(context));
  return chainTo({ sink, deadLetters, log: recordingLog().log, redelivers: true });
}

test("events that the sink says another agent has stored are done and do not count as stored", async (context) => {
  const bench = await setUp(context, {
    persist: async (batch) => ({ requestBytes: 1, responseBytes: 1, elsewhere: batch.events.slice(0, 2) }),
  });

  const settled = await deliver(bench.chain, events, { from: { positions } });

  assert.equal(settled, true);
  assert.equal(bench.counters.persisted, 1);
});

test("redelivered events of a shared channel that are stored count as stored by nobody here", async (context) => {
  const bench = await setUp(context, {
    persist: async () => ({ requestBytes: 1, responseBytes: 1 }),
    positions: { alreadyStored: async (batch) => batch.events.slice(0, 1) },
  });

  await deliver(bench.chain, events, { from: { positions, isRedelivered: () => true } });

  assert.equal(bench.counters.persisted, 2);
});

test("an event that is stored elsewhere is settled, and its dead letter counts as stored", () => {
  const settlements = new Settlements();
  const batch = new TakenBatch(events, { whole: events, transaction: { positions }, settlements });

  batch.settle("elsewhere", events.slice(0, 1));

  assert.deepEqual(batch.open().events, events.slice(1));
  assert.deepEqual(
    events.map((event) => settlements.outcomeOf(event)),
    ["elsewhere", undefined, undefined],
  );
  assert.deepEqual(settlements.count(events), { stored: 0, "dead-lettered": 0, filtered: 0 });
});

test("the batch of a sink says whether its position is shared", () => {
  const one = new TakenBatch(events, { whole: events, transaction: { positions }, settlements: new Settlements() });
  const { shared: _, ...own } = positions;
  const other = new TakenBatch(events, {
    whole: events,
    transaction: { positions: own },
    settlements: new Settlements(),
  });

  assert.deepEqual([one.forSink().position?.shared, other.forSink().position?.shared], [true, undefined]);
});
