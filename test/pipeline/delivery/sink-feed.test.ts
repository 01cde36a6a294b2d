import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { DeadLetters } from "../../../core/pipeline/dead-letters/dead-letters.js";
import { AgentError } from "../../../core/sdk/index.js";
import { MemoryChannel } from "../../../plugins/memory-channel/memory-channel.js";
import { feedOf, put as putInto } from "../../support/delivering.js";
import { latch } from "../../support/latch.js";
import { recordingLog } from "../../support/recording-log.js";
import { ScriptedSink } from "../../support/scripted-sink.js";
import { tempFolder } from "../../support/temp-folder.js";

interface Settings {
  readonly sink: ScriptedSink;
  readonly batchSize?: number;
  readonly batchTimeout?: number;
  readonly batchLinger?: number | "under-load";
  readonly transactionCapacity?: number;
  readonly largestBatch?: number;
  readonly steady?: () => number;
}

async function setUp(
  context: TestContext,
  { sink, batchSize = 1, batchTimeout = 30, batchLinger, transactionCapacity = 100, largestBatch, steady }: Settings,
) {
  const { log } = recordingLog();
  const dataDir = await tempFolder(context);
  const config = { capacity: 1000, transactionCapacity, "keep-alive": 0 };
  const memory = new MemoryChannel(config, { name: "c1", log, dataDir, run: "run", now: () => new Date(0) });
  const { feed, outlet, counters } = feedOf({
    channel: memory,
    sink,
    retry: { batchTtl: -1, batchRetryIntervals: [1] },
    deadLetters: new DeadLetters(dataDir),
    batching: { batchSize, batchTimeout, ...(batchLinger === undefined ? {} : { batchLinger }) },
    more: { largestBatch, ...(steady === undefined ? {} : { steady }) },
    log,
  });
  const { channel } = outlet;
  await channel.start();
  const put = (...bodies: readonly number[]) => putInto(channel, ...bodies);
  return { channel, feed, counters, put };
}

test("everything waiting is written in one go, up to the transactionCapacity, even with batch_size 1", async (context) => {
  const sink = new ScriptedSink();
  const { feed, put, channel } = await setUp(context, { sink, transactionCapacity: 5 });
  await put(1, 2, 3, 4, 5);
  await put(6, 7);

  feed.start();
  await feed.drain(AbortSignal.timeout(5000));

  assert.deepEqual(
    sink.writes.map((write) => write.map(({ body }) => body)),
    [
      [1, 2, 3, 4, 5],
      [6, 7],
    ],
  );
  assert.equal(channel.size, 0);
  assert.equal(channel.counters.takesOk, 7);
});

test("a sink that wants larger batches gets several takes of the channel in one write, in order", async (context) => {
  const sink = new ScriptedSink();
  const { feed, put, channel } = await setUp(context, { sink, transactionCapacity: 3, largestBatch: 7 });
  for (const body of [1, 2, 3, 4, 5, 6, 7, 8, 9]) await put(body);

  feed.start();
  await feed.drain(AbortSignal.timeout(5000));

  assert.deepEqual(
    sink.writes.map((write) => write.map(({ body }) => body)),
    [
      [1, 2, 3, 4, 5, 6, 7],
      [8, 9],
    ],
  );
  assert.equal(channel.size, 0);
  assert.equal(channel.counters.takesOk, 9);
});

test("a write of several takes that never goes in leaves them all in the channel, in order", async (context) => {
  const sink = new ScriptedSink(() => new AgentError("AWAY", "storing", { retryable: true }));
  const { feed, put, channel } = await setUp(context, { sink, transactionCapacity: 2, largestBatch: 10 });
  for (const body of [1, 2, 3, 4, 5]) await put(body);
  feed.start();

  await feed.drain(AbortSignal.timeout(20));

  assert.equal(channel.size, 5);
  const left = [];
  for (let taken = 0; taken < 5; taken = left.length) {
    left.push(...(await channel.openTake().take(2, AbortSignal.abort())));
  }
  assert.deepEqual(
    left.map(({ body }) => body),
    [1, 2, 3, 4, 5],
  );
});

test("events that are tried again together with later ones count as processed once", async (context) => {
  const { opened: written, open: tell } = latch();
  const sink = new ScriptedSink((events) => {
    // A later one comes while the store is away.
    if (sink.writes.length === 2 || sink.writes.length === 8) void put(sink.writes.length);
    if (events.length < 3) return new AgentError("AWAY", "storing", { retryable: true });
    tell();
    return undefined;
  });
  const { feed, put, counters } = await setUp(context, { sink });
  await put(1);

  feed.start();
  await written;
  await feed.drain(AbortSignal.timeout(5000));

  assert.deepEqual(
    sink.stored.map(({ body }) => body),
    [1, 2, 8],
  );
  assert.equal(counters.processed, 3);
});

test("a batch that is not full is written when batch_timeout has passed since its first event", async (context) => {
  const { opened: written, open: tell } = latch();
  const sink = new ScriptedSink(() => {
    tell();
    return undefined;
  });
  const { feed, put } = await setUp(context, { sink, batchSize: 3, batchTimeout: 0.05 });
  feed.start();

  await put(1);
  await put(2);
  await written;
  await feed.drain(AbortSignal.timeout(5000));

  assert.deepEqual(
    sink.stored.map(({ body }) => body),
    [1, 2],
  );
});

for (const [batchTimeout, batchLinger] of [
  [3600, 20],
  [0.02, 3_600_000],
] as const) {
  test(`a batch that is not full is written after batch_linger or batch_timeout, whichever is less (${batchTimeout} s, ${batchLinger} ms)`, async (context) => {
    const { opened: written, open: tell } = latch();
    const sink = new ScriptedSink(() => {
      tell();
      return undefined;
    });
    const { feed, put } = await setUp(context, { sink, batchSize: 3, batchTimeout, batchLinger });
    feed.start();

    await put(1);
    await written;
    await feed.drain(AbortSignal.timeout(5000));

    assert.deepEqual(
      sink.stored.map(({ body }) => body),
      [1],
    );
  });
}

for (const batchLinger of [0, "under-load"] as const) {
  test(`a batch that is not full is written at once while few events come and batch_linger is ${batchLinger}`, async (context) => {
    const { opened: written, open: tell } = latch();
    const sink = new ScriptedSink(() => {
      tell();
      return undefined;
    });
    const { feed, put } = await setUp(context, { sink, batchSize: 3, batchTimeout: 3600, batchLinger });
    feed.start();

    await put(1);
    await written;
    await feed.drain(AbortSignal.timeout(5000));

    assert.deepEqual(
      sink.stored.map(({ body }) => body),
      [1],
    );
  });
}

for (const batchLinger of [1000, "under-load"] as const) {
  test(`after a large batch what comes within the next moment is written together (batch_linger ${batchLinger})`, async (context) => {
    const sink = new ScriptedSink((_, write) => {
      if (write === 1) {
        void put(51);
        setImmediate(() => void put(52));
      }
      if (write === 2) tell();
      return undefined;
    });
    const { opened: second, open: tell } = latch();
    let looks = 0;
    // A millisecond from one look at the clock to the next, however long they take here.
    const { feed, put } = await setUp(context, { sink, batchLinger, steady: () => ++looks });
    await put(...Array.from({ length: 50 }, (_, index) => index + 1));

    feed.start();
    await second;
    await feed.drain(AbortSignal.timeout(5000));

    assert.deepEqual(
      sink.writes.slice(1).map((write) => write.map(({ body }) => body)),
      [[51, 52]],
    );
  });
}

test("a batch that waits for more events is written at once when the agent stops", async (context) => {
  const sink = new ScriptedSink();
  const { feed, put, counters } = await setUp(context, { sink, batchSize: 10, batchTimeout: 3600 });
  feed.start();
  await put(1, 2);

  await feed.drain(AbortSignal.timeout(5000));

  assert.equal(sink.writes.length, 1);
  assert.equal(counters.persisted, 2);
});

test("what cannot be stored before the grace period ends stays in the channel, in order", async (context) => {
  const sink = new ScriptedSink(() => new AgentError("AWAY", "storing", { retryable: true }));
  const { feed, put, channel } = await setUp(context, { sink });
  feed.start();
  await put(1, 2, 3);

  await feed.drain(AbortSignal.timeout(20));

  assert.equal(channel.size, 3);
  const transaction = channel.openTake();
  const left = await transaction.take(10, AbortSignal.abort());
  assert.deepEqual(
    left.map(({ body }) => body),
    [1, 2, 3],
  );
  assert.equal(channel.counters.takesFailed, 3);
});

test("a channel whose takes return nothing at once leaves time for everything else", async (context) => {
  const { log } = recordingLog();
  const dataDir = await tempFolder(context);
  const config = { capacity: 1000, transactionCapacity: 100, "keep-alive": 0 };
  const memory = new MemoryChannel(config, { name: "c1", log, dataDir, run: "run", now: () => new Date(0) });
  let takes = 0;
  memory.openTake = () => ({
    take: async () => {
      takes += 1;
      return [];
    },
    commit: async () => {},
    rollback: async () => {},
  });
  const { feed } = feedOf({
    channel: memory,
    sink: new ScriptedSink(),
    retry: { batchTtl: -1, batchRetryIntervals: [1] },
    deadLetters: new DeadLetters(dataDir),
    batching: { batchSize: 1, batchTimeout: 30 },
    more: {},
    log,
  });

  feed.start();
  await new Promise((resolve) => setImmediate(resolve));
  const meanwhile = takes;
  await feed.drain(AbortSignal.timeout(5000));

  assert.deepEqual([meanwhile, takes], [1, 1]);
});
