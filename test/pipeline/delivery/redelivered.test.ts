import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { DeadLetters } from "../../../core/pipeline/dead-letters/dead-letters.js";
import { Settlements } from "../../../core/pipeline/delivery/settlements.js";
import { HeldBack } from "../../../core/pipeline/delivery/stage.js";
import { TakenBatch } from "../../../core/pipeline/delivery/taken-batch.js";
import { AgentError, type Event, type Sink } from "../../../core/sdk/index.js";
import { chainTo, course, deliver } from "../../support/delivering.js";
import { recordingLog } from "../../support/recording-log.js";
import { tempFolder } from "../../support/temp-folder.js";

const events: readonly Event[] = ["a", "b", "c"].map((body) => ({ headers: {}, body }));
const bodiesOf = (some: readonly Event[]) => some.map(({ body }) => body);

interface Setting {
  readonly stored: readonly string[];
  readonly failures?: number;
  /** The sink refuses a batch with one of these bodies for good, also to be asked of it. */
  readonly refused?: readonly string[];
}

/** A sink that has stored these bodies before, and what it was asked and given. */
async function setUp(context: TestContext, { stored, failures = 0, refused = [] }: Setting) {
  const asked: unknown[] = [];
  const written: unknown[] = [];
  let left = failures;
  const check = (some: readonly Event[]) => {
    if (some.some(({ body }) => refused.includes(String(body))))
      throw new AgentError("REFUSED", "placing it", { retryable: false });
  };
  const sink: Sink = {
    start: async () => {},
    stop: async () => {},
    persist: async (batch) => {
      check(batch.events);
      written.push(bodiesOf(batch.events));
      return { requestBytes: 1, responseBytes: 1 };
    },
    positions: {
      alreadyStored: async (batch) => {
        asked.push(bodiesOf(batch.events));
        left -= 1;
        check(batch.events);
        if (left >= 0) throw new AgentError("STORE_AWAY", "reading what is stored", { retryable: true });
        return batch.events.filter(({ body }) => stored.includes(String(body)));
      },
    },
  };
  const { log, lines } = recordingLog();
  const deadLetters = new DeadLetters(await tempFolder(context));
  return { asked, written, lines, ...chainTo({ sink, deadLetters, log, redelivers: true }) };
}

const cases = [
  { says: "of which the sink has one", again: ["a", "b"], stored: ["b"], asked: [["a", "b"]], written: [["a", "c"]] },
  {
    says: "which the sink has all",
    again: ["a", "b", "c"],
    stored: ["a", "b", "c"],
    asked: [["a", "b", "c"]],
    written: [],
  },
  { says: "none of which the sink has", again: ["c"], stored: [], asked: [["c"]], written: [["a", "b", "c"]] },
  { says: "none of which is redelivered", again: [], stored: ["a"], asked: [], written: [["a", "b", "c"]] },
] as const;

for (const { says, again, stored, asked, written } of cases)
  test(`of events ${says} only the others are written`, async (context) => {
    const bench = await setUp(context, { stored });
    const redelivered: readonly unknown[] = again;

    const settled = await deliver(bench.chain, events, {
      from: { isRedelivered: ({ body }) => redelivered.includes(body) },
    });

    assert.equal(settled, true);
    assert.deepEqual([bench.asked, bench.written], [asked, written]);
    assert.equal(bench.counters.persisted, 3);
  });

test("nothing is written until the store can tell, and its reason is logged once", async (context) => {
  const bench = await setUp(context, { stored: ["a"], failures: 3 });

  await deliver(bench.chain, events, { from: { isRedelivered: () => true } });

  assert.equal(bench.asked.length, 4);
  assert.deepEqual(bench.written, [["b", "c"]]);
  assert.equal(bench.lines.filter(({ message }) => message.includes("cannot be read")).length, 1);
});

test("an event that the sink refuses for good, also to be asked of it, becomes a dead letter and holds up no other one", {
  timeout: 20_000,
}, async (context) => {
  const bench = await setUp(context, { stored: ["a"], refused: ["b"] });

  const settled = await deliver(bench.chain, events, { from: { isRedelivered: () => true } });

  assert.equal(settled, true);
  assert.deepEqual(bench.written, [["c"]]);
  assert.deepEqual([bench.counters.persisted, bench.counters.deadLettered], [2, 1]);
});

test("a delivery that ends before the store can tell leaves its events open", async (context) => {
  const bench = await setUp(context, { stored: [], failures: 1 });

  const settled = await deliver(bench.chain, events, {
    hurry: AbortSignal.abort(),
    from: { isRedelivered: () => true },
  });

  assert.equal(settled, false);
  assert.deepEqual(bench.written, []);
});

/** The first interval of retries, where it is short and no others are in the batch. */
const PAUSE = 2;
const isUntold = ({ body }: Event) => String(body).startsWith("x");

/** A sink with a place of which it cannot tell: that of events whose body begins with `x`. */
async function withUntold(context: TestContext, intervals: readonly number[] = [1]) {
  const place = { isAway: true };
  const time = { now: 0 };
  const written: unknown[] = [];
  const sink: Sink = {
    start: async () => {},
    stop: async () => {},
    persist: async ({ events: own, position }) => {
      written.push([...bodiesOf(own), position?.partial === true ? "partial" : "whole"]);
      return { requestBytes: 1, responseBytes: 1 };
    },
    positions: {
      alreadyStored: async ({ events: own }) => {
        const untold = place.isAway ? own.filter(isUntold) : [];
        if (untold.length === 0) return [];
        throw new AgentError("STORE_AWAY", "reading what is stored", { retryable: true, events: untold });
      },
    },
  };
  const deadLetters = new DeadLetters(await tempFolder(context));
  const { log } = recordingLog();
  const retry = { batchTtl: -1, batchRetryIntervals: intervals };
  const setting = { sink, deadLetters, log, redelivers: true, retry, steady: () => time.now };
  return { place, time, written, sink, ...chainTo(setting) };
}

test("of redelivered events only those are held back of which the sink cannot tell, with what came behind them for the same place", async (context) => {
  const { place, time, written, chain, counters } = await withUntold(context);
  const taken: readonly Event[] = ["a", "x1", "b", "x2", "c"].map((body) => ({ headers: {}, body }));
  const settlements = new Settlements();
  const positions = {
    shared: true,
    after: (count: number) => `p:${count}`,
    coveredBy: () => [],
    idOf: () => undefined,
  };
  const from = { isRedelivered: ({ body }: Event) => body !== "x2" && body !== "c", positions };
  const round = async () => {
    time.now += 1;
    const open = settlements.open(taken);
    const error = await chain.first
      .deliver(new TakenBatch(open, { whole: taken, transaction: from, settlements }), course())
      .catch(String);
    return [error === undefined || typeof error === "object", bodiesOf(settlements.open(taken))];
  };
  const heldBack = String(new HeldBack(undefined));

  const batch = new TakenBatch(taken, { whole: taken, transaction: from, settlements });
  const first = await chain.first.deliver(batch, course()).catch(String);
  const held = bodiesOf(settlements.open(taken));
  const later = [await round(), await round()];
  place.isAway = false;
  const last = await round();

  assert.equal(first, heldBack);
  assert.deepEqual(held, ["x1", "x2"]);
  // What nobody can have stored does not wait: it is a dead letter.
  assert.deepEqual(later, [
    [false, ["x1", "x2"]],
    [false, ["x1"]],
  ]);
  assert.deepEqual(last, [true, []]);
  assert.deepEqual(written, [
    ["a", "b", "c", "partial"],
    ["x1", "whole"],
  ]);
  assert.equal(counters.deadLettered, 1);
});

test("what is held back and was not delivered before becomes a dead letter no sooner than after the intervals of retries", async (context) => {
  const { time, chain, counters } = await withUntold(context, [1, 500]);
  const taken: readonly Event[] = ["x1", "x2"].map((body) => ({ headers: {}, body }));
  const settlements = new Settlements();
  const positions = { shared: true, after: () => "p", coveredBy: () => [], idOf: () => undefined };
  const from = { isRedelivered: ({ body }: Event) => body === "x1", positions };
  const asked = async () => {
    time.now += 1;
    const open = settlements.open(taken);
    await assert.rejects(
      chain.first.deliver(new TakenBatch(open, { whole: taken, transaction: from, settlements }), course()),
    );
    return counters.deadLettered;
  };

  const counts: number[] = [];
  while (counts.at(-1) !== 1) counts.push(await asked());

  // A millisecond each time: the first two tries, 499 times in which nothing counts, and the third try.
  assert.equal(counts.length, 502);
});

test("what is held back may rest for the interval of retries, a minute at most, and what comes to it begins with the first interval", async (context) => {
  const { time, chain } = await withUntold(context, [2, 10_000, 3_600_000]);
  const settlements = new Settlements();
  const positions = { shared: true, after: () => "p", coveredBy: () => [], idOf: () => undefined };
  const transaction = { isRedelivered: () => true, positions };
  const rest = async (...held: readonly Event[]) => {
    const batch = new TakenBatch(held, { whole: held, transaction, settlements });
    const error = await chain.first.deliver(batch, course()).catch((thrown: unknown) => thrown);
    assert.ok(error instanceof HeldBack);
    time.now += error.rest + PAUSE;
    return error.rest + PAUSE;
  };
  const [one, other]: readonly [Event, Event] = [
    { headers: {}, body: "x1" },
    { headers: {}, body: "x2" },
  ];

  const rests = [await rest(one), await rest(one), await rest(one), await rest(one, other)];

  assert.deepEqual(rests, [2, 10_000, 60_000, 2]);
});

test("behind a shared channel new events of which the sink cannot tell hold up no others while they have their tries, and the health says why", async (context) => {
  const { place, time, written, chain, sink, counters } = await withUntold(context);
  sink.persist = async ({ events: own, position }) => {
    if (own.some(isUntold)) throw new AgentError("CLOSED", "writing", { retryable: true });
    written.push([...bodiesOf(own), position?.partial === true ? "partial" : "whole"]);
    return { requestBytes: 1, responseBytes: 1 };
  };
  const taken: readonly Event[] = ["a", "x1"].map((body) => ({ headers: {}, body }));
  const settlements = new Settlements();
  const positions = { shared: true, after: () => "p", coveredBy: () => [], idOf: () => undefined };
  const round = async () => {
    time.now += 1;
    const open = settlements.open(taken);
    const batch = new TakenBatch(open, { whole: taken, transaction: { positions }, settlements });
    await chain.first.deliver(batch, course()).catch((error: unknown) => assert.ok(error instanceof HeldBack));
    return bodiesOf(settlements.open(taken));
  };

  const rounds = [await round(), await round()];
  const { failure } = chain.holding ?? {};
  rounds.push(await round());

  assert.deepEqual(rounds, [["x1"], ["x1"], []]);
  assert.deepEqual(written, [["a", "partial"]]);
  assert.deepEqual([place.isAway, failure?.code, chain.holding?.failure], [true, "STORE_AWAY", undefined]);
  assert.equal(counters.deadLettered, 1);
});
