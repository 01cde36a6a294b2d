import assert from "node:assert/strict";
import { test } from "node:test";
import { AGENT, agentContainer } from "../../core/agent/container.js";
import { healthOf } from "../../core/agent/health.js";
import type { Topology } from "../../core/configuration/topology.js";
import { AgentError, type AnyPlugin } from "../../core/sdk/index.js";
import memoryChannel from "../../plugins/memory-channel/index.js";
import { recordingLog } from "../support/recording-log.js";
import { ScriptedSink } from "../support/scripted-sink.js";
import { tempFolder } from "../support/temp-folder.js";
import { until } from "../support/until.js";

test("an agent is ready while one sink of a group stores, and shows the failure of the other one", async (context) => {
  const { log } = recordingLog();
  const away = new Set(["k1"]);
  const common = { summary: "for tests", stability: "stable", config: {} } as const;
  const scripted = (name: string): AnyPlugin => {
    const judge = () => (away.has(name) ? new AgentError("AWAY", "no server", { retryable: true }) : undefined);
    return { ...common, kind: "sink", type: name, create: () => new ScriptedSink(judge) };
  };
  const inOrder = { order: (sinks: readonly string[]) => sinks, succeeded: () => {}, failed: () => {} };
  const processor: AnyPlugin = { ...common, kind: "sink-processor", type: "in-order", create: () => inOrder };
  const node = (name: string, definition: AnyPlugin, config = {}) => ({ name, definition, config, slots: {} });
  const batching = { batchSize: 1, batchTimeout: 30, batchTtl: -1, batchRetryIntervals: [1] };
  const topology: Topology = {
    agent: "a",
    sources: [],
    channels: [node("c1", memoryChannel, { capacity: 10, transactionCapacity: 10, "keep-alive": 0 })],
    sinks: ["k1", "k2"].map((name) => ({ ...node(name, scripted(name)), channel: "c1", batching })),
    groups: [{ name: "g", sinks: ["k1", "k2"], positionsTimeout: 30, processor: node("g", processor) }],
  };
  const dataDir = await tempFolder(context);
  const agent = agentContainer({ topology, dataDir, loggers: { of: () => log } }).resolve(AGENT);
  await agent.start(1000);
  context.after(() => agent.stop(1000));
  const put = async () => {
    const transaction = agent.assembly.channels[0]?.channel.openPut();
    transaction?.put({ headers: {}, body: 1 });
    await transaction?.commit();
  };
  const failures = () => healthOf(agent).components.map(({ name, failure }) => [name, failure?.reason]);

  await put();
  await until(
    async () => agent.assembly.channels[0]?.channel.size,
    (size) => size === 0,
  );
  const one = { ready: healthOf(agent).ready, failures: failures() };
  away.add("k2");
  await put();
  const both = await until(
    async () => healthOf(agent),
    ({ ready }) => !ready,
  );

  assert.deepEqual(one, {
    ready: true,
    failures: [
      ["c1", undefined],
      ["k1", "no server"],
      ["k2", undefined],
    ],
  });
  assert.equal(both.components.filter(({ failure }) => failure !== undefined).length, 2);
});
