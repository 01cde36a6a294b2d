import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { DeadLetters } from "../../../core/pipeline/dead-letters/dead-letters.js";
import type { ChannelOutlet } from "../../../core/pipeline/delivery/channel-outlet.js";
import { Settlements } from "../../../core/pipeline/delivery/settlements.js";
import { GivenBack } from "../../../core/pipeline/delivery/stage.js";
import { TakenBatch } from "../../../core/pipeline/delivery/taken-batch.js";
import { AgentError, type Event, type Sink } from "../../../core/sdk/index.js";
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

async function setUp(
  context: TestContext,
  members: Pick<Sink, "persist" | "positions">,
  letters?: ChannelOutlet["letters"],
) {
  const sink: Sink = { start: async () => {}, stop: async () => {}, ...members };
  const deadLetters = new DeadLetters(await tempFolder(context));
  const bench = chainTo({ sink, deadLetters, log: recordingLog().log, redelivers: true, shared: { letters } });
  return { ...bench, deadLetters };
}

const named = { ...positions, idOf: (event: Event) => `c.${String(event.body)}` };
const away = new AgentError("AWAY", "storing to a store that is away", { retryable: true });
const refused = new AgentError("REFUSED", "storing what the store refuses", { retryable: false });

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

test("an event that another agent keeps as a dead letter while its store is away here is not stored when that is back", async (context) => {
  const kept = new Set<string>();
  const written: (readonly unknown[])[] = [];
  const bench = await setUp(
    context,
    {
      persist: async (batch) => {
        written.push(batch.events.map(({ body }) => body));
        if (written.length > 1) return { requestBytes: 1, responseBytes: 1 };
        kept.add("c.b");
        throw away;
      },
    },
    { has: (id) => kept.has(id), upToDate: async () => {}, stored: () => {} },
  );

  const settled = await deliver(bench.chain, events, { from: { positions: named } });

  assert.equal(settled, true);
  assert.deepEqual(written, [
    ["a", "b", "c"],
    ["a", "c"],
  ]);
  assert.equal(bench.counters.persisted, 2);
  assert.equal(bench.counters.deadLettered, 0);
});

test("nothing is written before an agent that was held up has heard of the dead letters of others", async (context) => {
  const kept = new Set<string>();
  let written = 0;
  const bench = await setUp(
    context,
    {
      persist: async () => {
        written += 1;
        return { requestBytes: 1, responseBytes: 1 };
      },
    },
    {
      has: (id) => kept.has(id),
      upToDate: async () => {
        for (const event of events) kept.add(named.idOf(event));
      },
      stored: () => {},
    },
  );

  const settled = await deliver(bench.chain, events, { from: { positions: named } });

  assert.deepEqual([settled, written], [true, 0]);
});

test("what is refused here, and another agent has stored, becomes no dead letter", async (context) => {
  let isStored = false;
  const bench = await setUp(context, {
    persist: async () => {
      isStored = true;
      throw refused;
    },
    positions: { alreadyStored: async (batch) => (isStored ? batch.events : []) },
  });

  const settled = await deliver(bench.chain, events, { from: { positions: named } });

  assert.deepEqual([settled, bench.counters.deadLettered], [true, 0]);
  assert.deepEqual(await bench.deadLetters.sinks(), []);
});

for (const leaving of [true, false])
  test(`events whose retries are used up while the store cannot be asked are ${leaving ? "left to the agents that get them" : "dead letters of the agent that has their part"}`, async (context) => {
    const unreachable = async () => {
      throw away;
    };
    const bench = await setUp(context, { persist: unreachable, positions: { alreadyStored: unreachable } });

    const delivered = deliver(bench.chain, events, { from: { positions: { ...named, leaving } } });

    if (leaving) await assert.rejects(delivered, GivenBack);
    else assert.equal(await delivered, true);
    assert.equal(bench.counters.deadLettered, leaving ? 0 : events.length);
  });

for (const [what, error] of [
  ["refused", refused],
  ["not stored in time", away],
] as const)
  test(`events that are ${what} and that other agents get become no dead letters: these may be storing them behind the answer of the store`, async (context) => {
    const persist = async () => {
      throw error;
    };
    const bench = await setUp(context, { persist, positions: { alreadyStored: async () => [] } });

    const delivered = deliver(bench.chain, events, { from: { positions: { ...named, leaving: true } } });

    await assert.rejects(delivered, GivenBack);
    assert.equal(bench.counters.deadLettered, 0);
    assert.deepEqual(await bench.deadLetters.sinks(), []);
  });

test("events of which the log takes no dead letters are left to the agents that get them meanwhile", async (context) => {
  const bench = await setUp(context, {
    persist: async () => {
      throw refused;
    },
    positions: { alreadyStored: async () => [] },
  });
  let leaving = false;
  const changing = {
    ...named,
    get leaving() {
      return leaving;
    },
  };
  await bench.deadLetters.share("s1", {
    log: "l",
    isAtWork: () => true,
    isMine: () => false,
    publish: async () => [],
    publishLetters: async () => {
      leaving = true;
      throw away;
    },
  });

  await assert.rejects(deliver(bench.chain, events, { from: { positions: changing } }), GivenBack);

  assert.equal(bench.counters.deadLettered, 0);
});
