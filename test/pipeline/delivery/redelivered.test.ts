import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { DeadLetters } from "../../../core/pipeline/dead-letters/dead-letters.js";
import { AgentError, type Event, type Sink } from "../../../core/sdk/index.js";
import { chainTo, deliver } from "../../support/delivering.js";
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
