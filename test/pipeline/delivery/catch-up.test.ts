import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { ChannelAccount } from "../../../core/pipeline/channel-account.js";
import { CountedChannel } from "../../../core/pipeline/counted-channel.js";
import { SinkCounters } from "../../../core/pipeline/counters.js";
import { DeadLetters } from "../../../core/pipeline/dead-letters/dead-letters.js";
import { ChannelOutlet } from "../../../core/pipeline/delivery/channel-outlet.js";
import { SinkGroup } from "../../../core/pipeline/delivery/sink-group.js";
import { SupervisedSink } from "../../../core/pipeline/delivery/supervised-sink.js";
import { AgentError, codeOf, positionFaults, type Sink } from "../../../core/sdk/index.js";
import type { FileChannel } from "../../../plugins/file-channel/file-channel.js";
import { channelIn } from "../../plugins/file-channel/channel-folder.js";
import { batchOf, course, feedOf, put } from "../../support/delivering.js";
import { KeepingSink, KeepingStore } from "../../support/keeping-sink.js";
import { latch } from "../../support/latch.js";
import { type LogLine, recordingLog } from "../../support/recording-log.js";
import { ScriptedSink } from "../../support/scripted-sink.js";
import { tempFolder } from "../../support/temp-folder.js";
import { until } from "../../support/until.js";

const foreign = () =>
  new AgentError(positionFaults.foreign, "the stored position is not of this channel; remove the row", {
    retryable: false,
  });
const conflict = () =>
  new AgentError(positionFaults.conflict, "agent b moved the position; stop one of the two agents", {
    retryable: false,
  });
const patience = () => AbortSignal.timeout(10_000);

async function setUp(context: TestContext, sink: Sink, wrap: (files: FileChannel) => FileChannel = (files) => files) {
  const folder = await tempFolder(context);
  const { log, lines } = recordingLog();
  const deadLetters = new DeadLetters(folder);
  const channel = wrap(channelIn(folder).channel);
  // Retries are used up at once where they count.
  const retry = { batchTtl: 0, batchRetryIntervals: [1] };
  const { feed, outlet, supervised } = feedOf({ channel, sink, retry, deadLetters, log });
  await outlet.channel.start();
  context.after(() => outlet.channel.stop(AbortSignal.abort()));
  const letters = async () => {
    let count = 0;
    for await (const _ of deadLetters.open()) count += 1;
    return count;
  };
  return { feed, outlet, supervised, lines, letters };
}

const errors = (lines: readonly LogLine[]) => lines.filter(({ level }) => level === "error");

test("a stored position that is not of the channel keeps everything in it until that is remedied", async (context) => {
  const store = new KeepingStore();
  store.position = "elsewhere:9";
  let asked = 0;
  const { feed, outlet, supervised, lines, letters } = await setUp(context, new KeepingSink(store), (files) => {
    const skipTo = files.skipTo.bind(files);
    files.skipTo = async (position) => {
      asked += 1;
      if (position.startsWith("elsewhere:")) throw foreign();
      return await skipTo(position);
    };
    return files;
  });
  await put(outlet.channel, 1, 2, 3);

  feed.start();
  await until(
    async () => asked,
    (times) => times > 3,
  );
  const meanwhile = [store.rows.length, outlet.channel.size, await letters()];
  const reason = supervised.health.failure?.reason;
  store.position = undefined;
  await feed.drain(patience());

  assert.deepEqual(meanwhile, [0, 3, 0]);
  assert.equal(reason, "the stored position is not of this channel; remove the row");
  assert.deepEqual(
    errors(lines).map(({ fields }) => Reflect.get(fields, "reason")),
    [reason],
  );
  assert.deepEqual(store.rows, [1, 2, 3]);
  assert.equal(supervised.health.failure, undefined);
});

test("a position that another agent moved keeps the batch whole, in order and out of the dead letters", async (context) => {
  const store = new KeepingStore();
  const tried: number[] = [];
  const sink = new KeepingSink(store);
  const persist = sink.persist.bind(sink);
  let moved = true;
  sink.persist = async (batch) => {
    tried.push(batch.events.length);
    if (moved) throw conflict();
    return await persist(batch);
  };
  const { feed, outlet, supervised, lines, letters } = await setUp(context, sink);
  await put(outlet.channel, 1, 2, 3);

  feed.start();
  await until(
    async () => tried.length,
    (times) => times > 5,
  );
  const meanwhile = [store.rows.length, outlet.channel.size, await letters()];
  const reason = supervised.health.failure?.reason;
  moved = false;
  await feed.drain(patience());

  assert.deepEqual(meanwhile, [0, 3, 0]);
  assert.equal(reason, "agent b moved the position; stop one of the two agents");
  assert.ok(
    tried.every((events) => events === 3),
    "the batch is not split",
  );
  assert.equal(errors(lines).length, 1);
  assert.deepEqual(store.rows, [1, 2, 3]);
  assert.equal(supervised.health.failure, undefined);
});

test("a late sink whose stored position is not of the channel waits as well, and goes on when that is remedied", async (context) => {
  const store = new KeepingStore();
  store.position = "elsewhere:9";
  let compared = 0;
  const { feed, outlet, supervised, lines, letters } = await setUp(context, new KeepingSink(store), (files) => {
    const openTake = files.openTake.bind(files);
    files.openTake = () => {
      const transaction = openTake();
      const coveredBy = (position: string) => {
        compared += 1;
        if (position.startsWith("elsewhere:")) throw foreign();
        return transaction.positions?.coveredBy(position) ?? [];
      };
      const after = (count: number) => transaction.positions?.after(count) ?? "";
      return {
        take: (max, signal) => transaction.take(max, signal),
        commit: () => transaction.commit(),
        rollback: () => transaction.rollback(),
        positions: { after, coveredBy, idOf: () => undefined },
      };
    };
    return files;
  });
  await outlet.gate.join().arrive(patience());
  await put(outlet.channel, 1, 2);

  feed.start();
  await until(
    async () => compared,
    (times) => times > 3,
  );
  const meanwhile = [store.rows.length, outlet.channel.size, await letters(), errors(lines).length];
  const reason = supervised.health.failure?.reason;
  store.position = undefined;
  await feed.drain(patience());

  assert.deepEqual(meanwhile, [0, 2, 0, 1]);
  assert.equal(reason, "the stored position is not of this channel; remove the row");
  assert.deepEqual(store.rows, [1, 2]);
  assert.equal(supervised.health.failure, undefined);
});

test("a stop does not wait for the remedy, and the events stay in the channel", async (context) => {
  const { opened: tried, open: tell } = latch();
  const sink = new ScriptedSink(() => {
    tell();
    return conflict();
  });
  const { feed, outlet, letters } = await setUp(context, sink);
  await put(outlet.channel, 1, 2);
  feed.start();
  await tried;

  await feed.halt(patience());

  assert.deepEqual([outlet.channel.size, await letters()], [2, 0]);
});

test("a batch of a group whose sink finds its position moved goes to no other sink", async () => {
  const { log } = recordingLog();
  const clock = { now: () => new Date(0) };
  const [first, second] = [new ScriptedSink(conflict), new ScriptedSink()];
  const members = [first, second].map((plugin, index) => {
    const name = `s${index + 1}`;
    const sink = new SupervisedSink({ name, create: () => plugin, persistTimeout: 0, log, clock });
    return { name, sink, counters: new SinkCounters() };
  });
  const failed: string[] = [];
  const processor = {
    order: (names: readonly string[]) => names,
    succeeded: () => {},
    failed: (name: string) => failed.push(name),
  };
  const group = new SinkGroup({ name: "g", members, processor, log });

  await assert.rejects(
    group.deliver(batchOf([{ headers: {}, body: 1 }]), course()),
    (error) => codeOf(error) === positionFaults.conflict,
  );

  assert.deepEqual([second.writes.length, failed], [0, []]);
});

test("a feed that never starts leaves the gate when it is halted, and does not start later", async (context) => {
  const store = new KeepingStore();
  const { feed, outlet } = await setUp(context, new KeepingSink(store));
  const other = outlet.gate.join();
  feed.join();

  await feed.halt(patience());
  feed.start();
  const opened = await other.arrive(patience());
  await put(outlet.channel, 1);
  await feed.drain(patience());

  assert.equal(opened, true);
  assert.deepEqual([store.rows, outlet.channel.size], [[], 1]);
});

test("what is skipped is counted in the ledger once, where the outlet has an account", async () => {
  const counts: number[] = [];
  const skipping = { skipTo: async () => 3 };
  const channel = new CountedChannel(Object.assign(channelIn("unused").channel, skipping));
  const account = { skipped: (events: number) => counts.push(events), leftOut: () => assert.fail() };
  const outlet = new ChannelOutlet(channel, { account });

  await outlet.skipTo("c:3");

  assert.deepEqual(counts, [3]);
});

test("what has dead letters is left out, and counts as no event that a store must have", async () => {
  const account = new ChannelAccount("c", () => undefined);
  const channel = new CountedChannel(Object.assign(channelIn("unused").channel, { leaveOut: async () => 2 }));
  const outlet = new ChannelOutlet(channel, { account });

  await outlet.leaveOut(nothing());

  assert.deepEqual([account.state.uncounted, account.storedOrSkipped], [2, 0]);
});

async function* nothing(): AsyncGenerator<string> {}
