import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { SinkCounters } from "../../../core/pipeline/counters.js";
import { DeadLetters } from "../../../core/pipeline/dead-letters/dead-letters.js";
import { deliveryChain } from "../../../core/pipeline/delivery/delivery-chain.js";
import { Portions } from "../../../core/pipeline/delivery/portions.js";
import { SinkGroup } from "../../../core/pipeline/delivery/sink-group.js";
import { SupervisedSink } from "../../../core/pipeline/delivery/supervised-sink.js";
import { AgentError, type Event } from "../../../core/sdk/index.js";
import { chainTo, deliver } from "../../support/delivering.js";
import { recordingLog } from "../../support/recording-log.js";
import { ScriptedSink } from "../../support/scripted-sink.js";
import { tempFolder } from "../../support/temp-folder.js";

const numbered = (count: number): Event[] => Array.from({ length: count }, (_, body) => ({ headers: {}, body }));
const slow = (code = "STATEMENT_TIMEOUT") => new AgentError(code, "storing took too long", { retryable: true });
const forever = { batchTtl: -1, batchRetryIntervals: [1] };

async function chainOf(context: TestContext, sink: ScriptedSink) {
  const deadLetters = new DeadLetters(await tempFolder(context));
  return chainTo({ sink, retry: forever, deadLetters, log: recordingLog().log });
}

for (const code of ["STATEMENT_TIMEOUT", "TIMED_OUT"])
  test(`a batch that takes too long (${code}) is written in parts, in order, and so is the next one`, async (context) => {
    const sink = new ScriptedSink((events) => (events.length > 2 ? slow(code) : undefined));
    const { chain, counters } = await chainOf(context, sink);

    await deliver(chain, numbered(8));
    await deliver(chain, numbered(6));

    assert.deepEqual(
      sink.writes.map(({ length }) => length),
      [8, 4, 2, 2, 2, 2, 3, 2, 2, 2],
    );
    assert.deepEqual(
      sink.stored.map(({ body }) => body),
      [...numbered(8), ...numbered(6)].map(({ body }) => body),
    );
    assert.deepEqual([counters.persisted, counters.deadLettered], [14, 0]);
  });

test("a batch is written in parts, too, when of a group one sink takes too long and the other one is away", async (context) => {
  const slowSink = new ScriptedSink((events) => (events.length > 2 ? slow() : undefined));
  const awaySink = new ScriptedSink(() => new AgentError("AWAY", "it is away", { retryable: true }));
  const { log } = recordingLog();
  const clock = { now: () => new Date(0) };
  const members = [slowSink, awaySink].map((plugin, at) => {
    const name = `s${at}`;
    const sink = new SupervisedSink({ name, create: () => plugin, persistTimeout: 0, log, clock });
    return { name, sink, counters: new SinkCounters() };
  });
  const processor = { order: (names: readonly string[]) => names, succeeded: () => {}, failed: () => {} };
  const sink = new SinkGroup({ name: "g", members, processor, log });
  const deadLetters = new DeadLetters(await tempFolder(context));
  const counters = new SinkCounters();
  const chain = deliveryChain({ name: "g", sink, retry: forever, deadLetters, counters, log, clock });

  await deliver(chain, numbered(4));

  assert.deepEqual(
    slowSink.writes.map(({ length }) => length),
    [4, 2, 2],
  );
});

test("an event of a batch in parts that the store refuses is a dead letter, and all others are stored", async (context) => {
  const refused = new AgentError("POISON", "storing 5", { retryable: false });
  const sink = new ScriptedSink((events) => {
    if (events.length > 4) return slow();
    return events.some(({ body }) => body === 5) ? refused : undefined;
  });
  const { chain, counters } = await chainOf(context, sink);

  await deliver(chain, numbered(8));

  assert.deepEqual(
    sink.stored.map(({ body }) => body),
    [0, 1, 2, 3, 4, 6, 7],
  );
  assert.deepEqual([counters.persisted, counters.deadLettered], [7, 1]);
});

test("a single event that takes too long is tried again and again, and is no dead letter", async (context) => {
  const sink = new ScriptedSink((_events, write) => (write < 20 ? slow() : undefined));
  const { chain, counters } = await chainOf(context, sink);

  await deliver(chain, numbered(1));

  assert.deepEqual([counters.persisted, counters.deadLettered], [1, 0]);
});

test("parts are larger again after each batch without a write that took too long", () => {
  const portions = new Portions();
  for (let time = 0; time < 3; time += 1) portions.tookTooLong();

  const sizes = [];
  for (let batch = 0; batch < 5; batch += 1) {
    sizes.push(portions.most(1000));
    portions.stored();
  }

  assert.deepEqual(sizes, [125, 250, 500, 1000, 1000]);
});

test("behind a store that is always slow one batch of ten has a write that takes too long", () => {
  const portions = new Portions();
  let late = 0;
  for (let batch = 0; batch < 112; batch += 1) {
    while (portions.most(1000) > 500) {
      portions.tookTooLong();
      late += 1;
    }
    portions.stored();
  }

  // Before it is known that the store is always slow, the second batch has one, too.
  assert.equal(late, 13);
});

test("a part has one event at least, however often writes took too long", () => {
  const portions = new Portions();
  for (let time = 0; time < 100; time += 1) portions.tookTooLong();

  assert.deepEqual([portions.most(1), portions.most(1000)], [1, 1]);
});
