import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { CountedChannel } from "../../../core/pipeline/counted-channel.js";
import { DeadLetters } from "../../../core/pipeline/dead-letters/dead-letters.js";
import { ReplayedLetters } from "../../../core/pipeline/dead-letters/replayed-letters.js";
import { ChannelOutlet } from "../../../core/pipeline/delivery/channel-outlet.js";
import type { Settled } from "../../../core/pipeline/delivery/settlements.js";
import { AgentError, letterHeader } from "../../../core/sdk/index.js";
import { MemoryChannel } from "../../../plugins/memory-channel/memory-channel.js";
import { feedOf, put as putInto } from "../../support/delivering.js";
import { latch } from "../../support/latch.js";
import { recordingLog } from "../../support/recording-log.js";
import { ScriptedSink } from "../../support/scripted-sink.js";
import { tempFolder } from "../../support/temp-folder.js";

const { log } = recordingLog();

interface Settings {
  readonly sink: ScriptedSink;
  readonly outlet?: ChannelOutlet;
  readonly deadLetters?: DeadLetters;
  readonly retryInterval?: number;
}

/** A feed of its own for a sink, on a new channel or one that another feed had before. */
async function setUp(context: TestContext, { sink, outlet = newOutlet(), retryInterval = 1, ...given }: Settings) {
  const deadLetters = given.deadLetters ?? new DeadLetters(await tempFolder(context));
  const { channel } = outlet;
  const replayed = new ReplayedLetters({ sink: "s1", deadLetters, log });
  await replayed.start();
  const batches: Settled[] = [];
  const { feed } = feedOf({
    channel,
    outlet,
    sink,
    retry: { batchTtl: -1, batchRetryIntervals: [retryInterval] },
    deadLetters,
    more: { replayed, account: { settled: (events) => batches.push(events) } },
    log,
  });
  const put = (...bodies: readonly number[]) => putInto(channel, ...bodies);
  const settled = () => {
    assert.equal(batches.length, 1);
    return batches[0];
  };
  return { channel, outlet, feed, put, settled, deadLetters };
}

function newOutlet(): ChannelOutlet {
  const config = { capacity: 1000, transactionCapacity: 100, "keep-alive": 0 };
  const context = { name: "c1", log, dataDir: "unused", run: "run", now: () => new Date(0) };
  return new ChannelOutlet(new CountedChannel(new MemoryChannel(config, context)));
}

test("a batch that was stored in part before the feed halted is completed by the next feed, nothing twice", async (context) => {
  let halted = () => {};
  const sink = new ScriptedSink((events) => {
    if (events.some(({ body }) => body === 4)) {
      halted();
      return events.length === 1
        ? new AgentError("AWAY", "storing", { retryable: true })
        : new AgentError("POISON", "storing", { retryable: false });
    }
    return events.length > 2 ? new AgentError("POISON", "storing", { retryable: false }) : undefined;
  });
  const { channel, outlet, put, feed } = await setUp(context, { sink });
  const away = new Promise<void>((resolve) => {
    halted = resolve;
  });
  await put(1, 2, 3, 4);
  feed.start();
  await away;
  await feed.halt(AbortSignal.timeout(5000));
  const left = channel.size;
  const good = new ScriptedSink();
  const second = await setUp(context, { sink: good, outlet });
  second.feed.start();
  await second.feed.drain(AbortSignal.timeout(5000));

  const stored = [...sink.stored, ...good.stored].map(({ body }) => body);
  assert.equal(left, 4);
  assert.deepEqual(stored, [1, 2, 3, 4]);
  assert.equal(channel.size, 0);
  assert.deepEqual(second.settled(), { stored: 4, "dead-lettered": 0, filtered: 0 });
});

test("a feed that halts leaves what waits in the channel, and does not wait for its next try", async (context) => {
  const { opened: tried, open: tell } = latch();
  const sink = new ScriptedSink(() => {
    tell();
    return new AgentError("AWAY", "storing", { retryable: true });
  });
  const { feed, put, channel } = await setUp(context, { sink, retryInterval: 3_600_000 });
  await put(1, 2);
  feed.start();
  await tried;

  await feed.halt(AbortSignal.timeout(5000));

  assert.equal(channel.size, 2);
  assert.equal(sink.writes.length, 1);
});

test("a letter that comes twice, or was stored before, is stored once and counted as filtered", async (context) => {
  const sink = new ScriptedSink();
  const { feed, channel, outlet, settled, deadLetters } = await setUp(context, { sink });
  const transaction = channel.openPut();
  for (const id of ["a", "a", "b"]) transaction.put({ headers: { [letterHeader]: id }, body: id });
  await transaction.commit();
  feed.start();
  await feed.drain(AbortSignal.timeout(5000));
  const again = channel.openPut();
  again.put({ headers: { [letterHeader]: "b" }, body: "b" });
  await again.commit();
  const next = await setUp(context, { sink, outlet, deadLetters });
  next.feed.start();
  await next.feed.drain(AbortSignal.timeout(5000));

  assert.deepEqual(
    sink.stored.map(({ body }) => body),
    ["a", "b"],
  );
  assert.deepEqual(
    [settled(), next.settled()].map((batch) => batch?.filtered),
    [1, 1],
  );
});
