import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { DeadLetters } from "../../../core/pipeline/dead-letters/dead-letters.js";
import { Settlements } from "../../../core/pipeline/delivery/settlements.js";
import { GivenBack } from "../../../core/pipeline/delivery/stage.js";
import { TakenBatch } from "../../../core/pipeline/delivery/taken-batch.js";
import { AgentError, type Batch, type Event, type Sink } from "../../../core/sdk/index.js";
import { openIn } from "../../plugins/file-channel/channel-folder.js";
import { chainTo, course, feedOf, put } from "../../support/delivering.js";
import { recordingLog } from "../../support/recording-log.js";
import { tempFolder } from "../../support/temp-folder.js";
import { until } from "../../support/until.js";

const bodiesOf = (events: readonly Event[]) => events.map(({ body }) => body);

/** What becomes of the first write. */
interface First {
  readonly stores: boolean;
  readonly mayBeStored?: boolean;
}

/** A sink whose store is away from its first write on, which may have stored its batch, until it is there again. */
class Leaving implements Sink {
  readonly rows: unknown[] = [];
  isAway = false;
  isHere = false;
  /** While it is away. */
  asked = 0;
  /** Whether the error of `alreadyStored` names the events, as where other places of the store can be used. */
  readonly #names: boolean;
  readonly #first: First;

  constructor(first: First, names = false) {
    this.#first = first;
    this.#names = names;
  }

  readonly positions = {
    stored: async () => [],
    alreadyStored: async ({ events }: Batch): Promise<readonly Event[]> => {
      if (this.isHere) return events.filter(({ body }) => this.rows.includes(body));
      this.asked += 1;
      throw new AgentError("AWAY", "asking", { retryable: true, ...(this.#names ? { events } : {}) });
    },
  };

  async start(): Promise<void> {}

  async stop(): Promise<void> {}

  async persist({ events }: Batch) {
    const { stores, mayBeStored = false } = this.isAway ? { stores: false } : this.#first;
    this.isAway = true;
    // As a sink with positions does, it leaves out what it has.
    if (this.isHere || stores) this.rows.push(...bodiesOf(events).filter((body) => !this.rows.includes(body)));
    if (this.isHere) return { requestBytes: 1, responseBytes: 1 };
    throw new AgentError("AWAY", "writing", { retryable: true, mayBeStored });
  }
}

async function behindFile(context: TestContext, sink: Leaving, holdsApart: boolean) {
  const { channel } = await openIn(await tempFolder(context));
  const { log, lines } = recordingLog();
  const deadLetters = new DeadLetters(await tempFolder(context));
  const retry = { batchTtl: 0, batchRetryIntervals: [1] };
  const made = feedOf({ channel, sink, log, deadLetters, retry, holdsApart });
  context.after(async () => {
    await made.feed.halt(AbortSignal.abort());
    await channel.stop();
  });
  made.feed.join();
  made.feed.start();
  const emptied = () =>
    until(
      async () => channel.size,
      (size) => size === 0,
    );
  return { channel, lines, emptied, ...made };
}

for (const stores of [true, false])
  for (const { names, what } of [
    { names: true, what: "beside which others can be used" },
    { names: false, what: "of which nothing can be used" },
  ])
    test(`an event that ${stores ? "was" : "was not"} stored by a commit without an answer is one row and no dead letter after an outage of a store ${what}`, async (context) => {
      const sink = new Leaving({ stores, mayBeStored: true }, names);
      const { channel, counters, emptied } = await behindFile(context, sink, names);

      await put(channel, "x");
      await until(
        async () => sink.asked >= 3 || counters.deadLettered > 0,
        (isJudged) => isJudged,
      );
      const letters = counters.deadLettered;
      sink.isHere = true;
      await emptied();

      assert.equal(letters, 0);
      assert.deepEqual(sink.rows, ["x"]);
      assert.deepEqual([counters.persisted, counters.deadLettered], [1, 0]);
    });

test("an event whose write certainly failed becomes a dead letter when its retries are used up", async (context) => {
  const { channel, counters, emptied } = await behindFile(context, new Leaving({ stores: false }), false);

  await put(channel, "x");
  await emptied();

  assert.equal(counters.deadLettered, 1);
});

test("behind a shared channel an event whose commit was not answered becomes no dead letter after its tries, and others do", async (context) => {
  const sink = new Leaving({ stores: true, mayBeStored: true }, true);
  const time = { now: 0 };
  const { log } = recordingLog();
  const deadLetters = new DeadLetters(await tempFolder(context));
  const retry = { batchTtl: -1, batchRetryIntervals: [1] };
  const { chain, counters } = chainTo({ sink, deadLetters, log, redelivers: true, retry, steady: () => time.now });
  const settlements = new Settlements();
  const positions = { shared: true, after: () => "p", coveredBy: () => [], idOf: () => undefined };
  const taken: Event[] = [{ headers: {}, body: "x" }];
  const round = async () => {
    time.now += 1;
    const open = settlements.open(taken);
    const batch = new TakenBatch(open, { whole: taken, transaction: { positions }, settlements });
    await chain.first.deliver(batch, course()).catch((error: unknown) => assert.ok(error instanceof GivenBack));
    return bodiesOf(settlements.open(taken));
  };

  const rounds = [await round()];
  taken.push({ headers: {}, body: "y" });
  for (let more = 0; more < 5; more += 1) rounds.push(await round());
  sink.isHere = true;
  const last = await round();

  assert.deepEqual(rounds.slice(0, 3), [["x"], ["x", "y"], ["x", "y"]]);
  assert.deepEqual([rounds.at(-1), last], [["x"], []]);
  assert.deepEqual(sink.rows, ["x"]);
  assert.equal(counters.deadLettered, 1);
});
