import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { DEAD_LETTER_REPLAY, DEAD_LETTERS } from "../../../core/agent/container.js";
import { AutomaticReplay } from "../../../core/agent/replay/automatic-replay.js";
import { RecentActivity } from "../../../core/agent/state/recent-activity.js";
import type { DeadLetter } from "../../../core/pipeline/dead-letters/dead-letters.js";
import { AgentError, type Batch } from "../../../core/sdk/index.js";
import { recordingLog } from "../../support/recording-log.js";
import { runningManagement } from "../../support/running-management.js";
import { ScriptedSink } from "../../support/scripted-sink.js";
import { until } from "../../support/until.js";

const second = 1000;
const minute = 60 * second;
const startedAt = Date.parse("2026-01-15T10:00:00.000Z");

const letter = (id: string, reason: DeadLetter["reason"] = "retries-exhausted"): DeadLetter => ({
  id,
  time: new Date(startedAt).toISOString(),
  sink: "k1",
  reason,
  message: "storing to a store that is away",
  attempts: 3,
  event: { headers: { name: id }, body: { n: 1 } },
});

/** An agent whose store is away or not, and whose passes over the letters are made one by one. */
async function setUp(context: TestContext, count: number, reason?: DeadLetter["reason"]) {
  const sink = new ScriptedSink();
  const store = { away: false, calls: 0 };
  const stored = sink.persist.bind(sink);
  sink.persist = async (batch: Batch) => {
    store.calls += 1;
    if (store.away) throw new AgentError("AWAY", "storing to a store that is away", { retryable: true });
    return await stored(batch);
  };
  let uptime = 0;
  const clock = { now: () => new Date(startedAt + uptime) };
  const { container } = await runningManagement(context, { sink, batchTtl: 0, clock });
  const letters = container.resolve(DEAD_LETTERS);
  const activity = new RecentActivity(clock);
  const { log } = recordingLog();
  const deadLetterReplay = container.resolve(DEAD_LETTER_REPLAY);
  const replays = new AutomaticReplay({ deadLetterReplay, letters, activity, clock, log, uptime: () => uptime });
  context.after(() => replays.stop());
  await letters.keep(Array.from({ length: count }, (_, n) => letter(`letter-${n}`, reason)));
  const replaying = () => letters.counts()[0]?.replaying ?? 0;
  return {
    sink,
    letters,
    store,
    replays,
    /** Time goes by, then one round is made, and what it sent is settled. */
    async pass(milliseconds: number): Promise<number> {
      uptime += milliseconds;
      const before = sink.stored.length;
      await replays.pass();
      await until(
        async () => replaying(),
        (underway) => underway === 0,
      );
      return sink.stored.length - before;
    },
    /** Its channel is shared by these agents, as far as it knows. */
    shares(...agents: readonly { readonly mine: boolean }[]): void {
      const { channel } = deadLetterReplay.sinkOf("k1") ?? assert.fail();
      Object.assign(channel, { log: () => ({ agents }) });
    },
    /** The sink stores an event of its channel. */
    works: () => activity.attempted({ sink: "k1", events: [], ...times(clock.now()) }),
    open: () => letters.counts()[0]?.waiting ?? 0,
  };
}

function times(at: Date) {
  return { startedAt: at, finishedAt: at, receipt: { requestBytes: 0, responseBytes: 0 } };
}

test("letters whose retries ran out are replayed when their sink stores again: one first, then more, oldest first", async (context) => {
  const { pass, works, sink, open } = await setUp(context, 25);

  const sent = [await pass(6 * second)];
  works();
  for (const seconds of [5, 1, 1, 1, 1]) sent.push(await pass(seconds * second));

  // The channel takes 10 at once.
  assert.deepEqual(sent, [0, 1, 10, 10, 4, 0]);
  assert.equal(open(), 0);
  assert.deepEqual(
    sink.stored.map(({ headers }) => headers["name"]),
    Array.from({ length: 25 }, (_, n) => `letter-${n}`),
  );
});

test("without traffic a letter is tried by itself after a minute, and each failure makes the next try later", async (context) => {
  const { pass, store, open } = await setUp(context, 3);
  store.away = true;
  const tries: number[] = [];

  for (let minutes = 0; minutes <= 64; minutes += 0.5) {
    const before = store.calls;
    await pass(minute / 2);
    if (store.calls > before) tries.push(minutes + 0.5);
    assert.ok(store.calls - before <= 1);
  }
  store.away = false;
  let stored = 0;
  for (let minutes = 0; minutes <= 130; minutes += 1) stored += await pass(minute);

  assert.ok(tries[0] === 1, `the first after ${tries[0]} minutes`);
  const waits = tries.slice(1).map((at, index) => at - (tries[index] ?? 0));
  assert.ok(tries.length <= 8, `${tries.length} tries in an hour`);
  assert.deepEqual(
    waits,
    waits.toSorted((one, other) => one - other),
  );
  assert.deepEqual([stored, open()], [3, 0]);
});

test("letters that no store takes are left to people", async (context) => {
  const { pass, works, store, open } = await setUp(context, 3, "permanent");

  works();
  for (let round = 0; round < 10; round += 1) await pass(minute);

  assert.deepEqual([store.calls, open()], [0, 3]);
});

test("a letter that fails again waits longer than others, which are stored meanwhile", async (context) => {
  const { pass, letters, sink } = await setUp(context, 3);
  const persist = sink.persist.bind(sink);
  let refused = 0;
  sink.persist = async (batch: Batch) => {
    if (batch.events.some(({ headers }) => headers["name"] === "letter-0")) {
      refused += 1;
      throw new AgentError("BUSY", "storing what the store does not take now", { retryable: true });
    }
    return await persist(batch);
  };

  for (let minutes = 0; minutes < 60; minutes += 1) await pass(minute);

  assert.deepEqual(sink.stored.map(({ headers }) => headers["name"]).toSorted(), ["letter-1", "letter-2"]);
  assert.equal((await letters.entry("k1", "letter-0"))?.replays, refused);
  assert.ok(refused >= 3 && refused <= 7, `tried ${refused} times in an hour`);
});

test("of agents that share letters the first one replays them, and one that knows of no agents, as after it was frozen, waits", async (context) => {
  const { pass, shares, open } = await setUp(context, 1);
  const others = [{ mine: false }, { mine: true }];
  const sent: number[] = [];

  for (const agents of [[], others, [{ mine: true }]]) {
    shares(...agents);
    // The first round of an agent only begins its pauses.
    sent.push((await pass(2 * minute)) + (await pass(2 * minute)));
  }

  assert.deepEqual(sent, [0, 0, 1]);
  assert.equal(open(), 0);
});

test("letters of a sink that the agent does not have stay", async (context) => {
  const { pass, letters } = await setUp(context, 1);
  await letters.keep([{ ...letter("z"), sink: "gone" }]);

  for (let minutes = 0; minutes < 3; minutes += 1) await pass(minute);

  assert.deepEqual(
    letters.counts().map(({ sink, waiting }) => `${sink} ${waiting}`),
    ["k1 0", "gone 1"],
  );
});
