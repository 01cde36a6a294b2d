import assert from "node:assert/strict";
import { once } from "node:events";
import { type TestContext, test } from "node:test";
import { AGENT, agentContainer, RELOAD } from "../../core/agent/container.js";
import type { Topology } from "../../core/configuration/topology.js";
import { AgentError, type AnyPlugin, definePlugin, type Sink } from "../../core/sdk/index.js";
import memoryChannel from "../../plugins/memory-channel/index.js";
import { latch } from "../support/latch.js";
import { recordingLog } from "../support/recording-log.js";
import { ScriptedSink } from "../support/scripted-sink.js";
import { tempFolder } from "../support/temp-folder.js";

const node = (name: string, definition: AnyPlugin, config = {}) => ({ name, definition, config, slots: {} });
const batching = { batchSize: 1, batchTimeout: 30, batchTtl: -1, batchRetryIntervals: [1] };

/** An agent with one waiting event in its channel "c", and topologies of the same with another name for the channel or another capacity. */
async function storing(context: TestContext, create: () => Sink) {
  const sink = definePlugin({ kind: "sink", type: "s", summary: "for tests", stability: "stable", config: {}, create });
  const topology = (channel: string, capacity = 10, batchTimeout = 30): Topology => ({
    agent: "a",
    sources: [],
    channels: [node(channel, memoryChannel, { capacity, transactionCapacity: 10, "keep-alive": 0 })],
    sinks: [{ ...node("k", sink), channel, batching: { ...batching, batchTimeout } }],
  });
  const { log } = recordingLog();
  const dataDir = await tempFolder(context);
  const container = agentContainer({ topology: topology("c"), dataDir, loggers: { of: () => log } });
  const agent = container.resolve(AGENT);
  await agent.start(1000);
  context.after(() => agent.stop(10));
  const puts = agent.assembly.channels[0]?.channel.openPut();
  puts?.put({ headers: {}, body: 1 });
  await puts?.commit();
  return { agent, reload: container.resolve(RELOAD), topology };
}

test("a reload that waits for a store goes back within seconds when it is hurried", {
  timeout: 120_000,
}, async (context) => {
  const away = () => new ScriptedSink(() => new AgentError("AWAY", "storing", { retryable: true }));
  const { agent, reload, topology } = await storing(context, away);
  const hurried = new AbortController();

  const reloading = reload.to(topology("d"), 3_600_000, hurried.signal);
  hurried.abort();
  const ok = await reloading;

  const { channels, sinks } = agent.assembly;
  assert.deepEqual([ok, channels.map(({ name }) => name), sinks.map(({ name }) => name)], [false, ["c"], ["k"]]);
  assert.equal(channels[0]?.channel.size, 1);
});

test("a write that takes all of the grace period of a reload leaves the next sink time to start", async (context) => {
  const { opened: running, open: begun } = latch();
  const { opened: starting, open: called } = latch();
  const { opened: released, open: release } = latch();
  let isAborted = false;
  let sinks = 0;
  const { reload, topology } = await storing(context, () => {
    sinks += 1;
    const isFirst = sinks === 1;
    return {
      start: async () => {
        if (isFirst) return;
        called();
        await released;
      },
      stop: async () => undefined,
      persist: async (_batch, signal) => {
        begun();
        if (isFirst) await once(signal, "abort");
        isAborted = true;
        return { requestBytes: 0, responseBytes: 0 };
      },
    };
  });
  await running;
  context.mock.timers.enable({ apis: ["setTimeout"] });

  const reloading = reload.to(topology("c", 10, 31), 60_000);
  while (!isAborted) {
    await new Promise(setImmediate);
    context.mock.timers.tick(60_000);
    await new Promise(setImmediate);
  }
  await starting;
  context.mock.timers.tick(10_000);
  await new Promise(setImmediate);
  release();

  assert.equal(await reloading, true);
  context.mock.timers.reset();
});

test("a write that is running when its reload is hurried ends, and is not made again", {
  timeout: 120_000,
}, async (context) => {
  const { opened: running, open: begun } = latch();
  const { opened: released, open: release } = latch();
  let writes = 0;
  const { agent, reload, topology } = await storing(context, () => ({
    start: async () => undefined,
    stop: async () => undefined,
    persist: async (_batch, signal) => {
      writes += 1;
      begun();
      await Promise.race([released, aborted(signal)]);
      return { requestBytes: 0, responseBytes: 0 };
    },
  }));
  await running;
  const hurried = new AbortController();

  const reloading = reload.to(topology("c", 20), 3_600_000, hurried.signal);
  hurried.abort();
  setImmediate(release);
  const ok = await reloading;

  assert.equal(ok, true);
  assert.equal(await agent.stop(1000), 0);
  assert.equal(writes, 1);
});

/** As a database that gives up: the statement that was sent is committed nevertheless. */
async function aborted(signal: AbortSignal): Promise<never> {
  await once(signal, "abort");
  throw new AgentError("ENDED", "storing", { retryable: true });
}
