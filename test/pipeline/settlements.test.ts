import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { CountedChannel } from "../../core/pipeline/counted-channel.js";
import { SinkCounters } from "../../core/pipeline/counters.js";
import { DeadLetters } from "../../core/pipeline/dead-letters.js";
import { SinkDelivery } from "../../core/pipeline/delivery.js";
import { letterHeader, ReplayedLetters } from "../../core/pipeline/replayed-letters.js";
import type { Settled } from "../../core/pipeline/settlements.js";
import { SinkRunner } from "../../core/pipeline/sink-runner.js";
import { AgentError } from "../../core/sdk/index.js";
import { MemoryChannel } from "../../plugins/memory-channel/memory-channel.js";
import { recordingLog } from "../support/recording-log.js";
import { ScriptedSink } from "../support/scripted-sink.js";
import { tempFolder } from "../support/temp-folder.js";

const clock = { now: () => new Date(0) };
const { log } = recordingLog();

interface Settings {
  readonly sink: ScriptedSink;
  readonly channel?: CountedChannel;
  readonly deadLetters?: DeadLetters;
  readonly retryInterval?: number;
}

/** A runner of its own for a sink, on a new channel or one that another runner had before. */
async function setUp(context: TestContext, { sink, channel = newChannel(), retryInterval = 1, ...given }: Settings) {
  const deadLetters = given.deadLetters ?? new DeadLetters(await tempFolder(context));
  const counters = new SinkCounters();
  const retry = { batchTtl: -1, batchRetryIntervals: [retryInterval] };
  const delivery = new SinkDelivery({ name: "s1", sink, retry, deadLetters, counters, log, clock });
  const replayed = new ReplayedLetters({ sink: "s1", deadLetters, log });
  await replayed.start();
  const batches: Settled[] = [];
  const runner = new SinkRunner({
    channel,
    delivery,
    batching: { batchSize: 1, batchTimeout: 30 },
    counters,
    log,
    settlements: channel.settlements,
    replayed,
    account: { settled: (events) => batches.push(events) },
  });
  const put = async (...bodies: readonly number[]) => {
    const transaction = channel.openPut();
    for (const body of bodies) transaction.put({ headers: {}, body });
    await transaction.commit();
  };
  const settled = () => {
    assert.equal(batches.length, 1);
    return batches[0];
  };
  return { channel, runner, put, settled, deadLetters };
}

function newChannel(): CountedChannel {
  const config = { capacity: 1000, transactionCapacity: 100, "keep-alive": 0 };
  return new CountedChannel(
    new MemoryChannel(config, { name: "c1", log, dataDir: "unused", run: "run", now: clock.now }),
  );
}

test("a batch that was stored in part before the runner halted is completed by the next runner, nothing twice", async (context) => {
  let halted = () => {};
  const sink = new ScriptedSink((events) => {
    if (events.some(({ body }) => body === 4)) {
      halted();
      return events.length === 1
        ? new AgentError("AWAY", "storing", { retryable: true })
        : new AgentError("POISON", "storing");
    }
    return events.length > 2 ? new AgentError("POISON", "storing") : undefined;
  });
  const { channel, put, runner } = await setUp(context, { sink });
  const away = new Promise<void>((resolve) => {
    halted = resolve;
  });
  await put(1, 2, 3, 4);
  runner.start();
  await away;
  await runner.halt(AbortSignal.timeout(5000));
  const left = channel.size;
  const good = new ScriptedSink();
  const second = await setUp(context, { sink: good, channel });
  second.runner.start();
  await second.runner.drain(AbortSignal.timeout(5000));

  const stored = [...sink.stored, ...good.stored].map(({ body }) => body);
  assert.equal(left, 4);
  assert.deepEqual(stored, [1, 2, 3, 4]);
  assert.equal(channel.size, 0);
  assert.deepEqual(second.settled(), { stored: 4, "dead-lettered": 0, filtered: 0 });
});

test("a runner that halts leaves what waits in the channel, and does not wait for its next try", async (context) => {
  let tell = () => {};
  const tried = new Promise<void>((resolve) => {
    tell = resolve;
  });
  const sink = new ScriptedSink(() => {
    tell();
    return new AgentError("AWAY", "storing", { retryable: true });
  });
  const { runner, put, channel } = await setUp(context, { sink, retryInterval: 3_600_000 });
  await put(1, 2);
  runner.start();
  await tried;

  await runner.halt(AbortSignal.timeout(5000));

  assert.equal(channel.size, 2);
  assert.equal(sink.writes.length, 1);
});

test("a letter that comes twice, or was stored before, is stored once and counted as filtered", async (context) => {
  const sink = new ScriptedSink();
  const { runner, channel, settled, deadLetters } = await setUp(context, { sink });
  const transaction = channel.openPut();
  for (const id of ["a", "a", "b"]) transaction.put({ headers: { [letterHeader]: id }, body: id });
  await transaction.commit();
  runner.start();
  await runner.drain(AbortSignal.timeout(5000));
  const again = channel.openPut();
  again.put({ headers: { [letterHeader]: "b" }, body: "b" });
  await again.commit();
  const next = await setUp(context, { sink, channel, deadLetters });
  next.runner.start();
  await next.runner.drain(AbortSignal.timeout(5000));

  assert.deepEqual(
    sink.stored.map(({ body }) => body),
    ["a", "b"],
  );
  assert.deepEqual(
    [settled(), next.settled()].map((batch) => batch?.filtered),
    [1, 1],
  );
});
