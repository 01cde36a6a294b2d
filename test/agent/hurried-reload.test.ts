import assert from "node:assert/strict";
import { test } from "node:test";
import { AGENT, agentContainer, RELOAD } from "../../core/agent/container.js";
import type { Topology } from "../../core/configuration/topology.js";
import { AgentError, type AnyPlugin, definePlugin } from "../../core/sdk/index.js";
import memoryChannel from "../../plugins/memory-channel/index.js";
import { recordingLog } from "../support/recording-log.js";
import { ScriptedSink } from "../support/scripted-sink.js";
import { tempFolder } from "../support/temp-folder.js";

test("a reload that waits for a store goes back at once when it is hurried", { timeout: 30_000 }, async (context) => {
  const away = definePlugin({
    kind: "sink",
    type: "away",
    summary: "for tests",
    stability: "stable",
    config: {},
    create: () => new ScriptedSink(() => new AgentError("AWAY", "storing", { retryable: true })),
  });
  const node = (name: string, definition: AnyPlugin, config = {}) => ({ name, definition, config, slots: {} });
  const batching = { batchSize: 1, batchTimeout: 30, batchTtl: -1, batchRetryIntervals: [1] };
  const topology = (channel: string): Topology => ({
    agent: "a",
    sources: [],
    channels: [node(channel, memoryChannel, { capacity: 10, transactionCapacity: 10, "keep-alive": 0 })],
    sinks: [{ ...node("k", away), channel, batching }],
  });
  const { log } = recordingLog();
  const container = agentContainer({
    topology: topology("c"),
    dataDir: await tempFolder(context),
    loggers: { of: () => log },
  });
  const agent = container.resolve(AGENT);
  await agent.start(1000);
  context.after(() => agent.stop(10));
  const puts = agent.assembly.channels[0]?.channel.openPut();
  puts?.put({ headers: {}, body: 1 });
  await puts?.commit();
  const hurried = new AbortController();

  const reloading = container.resolve(RELOAD).to(topology("d"), 3_600_000, hurried.signal);
  hurried.abort();
  const ok = await reloading;

  const { channels, sinks } = agent.assembly;
  assert.deepEqual([ok, channels.map(({ name }) => name), sinks.map(({ name }) => name)], [false, ["c"], ["k"]]);
  assert.equal(channels[0]?.channel.size, 1);
});
