import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { AGENT, agentContainer, READINESS } from "../../../core/agent/container.js";
import type { Topology } from "../../../core/configuration/topology.js";
import { AgentError, type AnyPlugin, type Context, definePlugin, type HealthReport } from "../../../core/sdk/index.js";
import { CLOCK } from "../../../core/tokens.js";
import memoryChannel from "../../../plugins/memory-channel/index.js";
import { recordingLog } from "../../support/recording-log.js";
import { ScriptedSink } from "../../support/scripted-sink.js";
import { settableClock } from "../../support/settable-clock.js";
import { tempFolder } from "../../support/temp-folder.js";
import { until } from "../../support/until.js";

async function startedGroup(context: TestContext) {
  const { log } = recordingLog();
  const away = new Set(["k1"]);
  const common = { summary: "for tests", stability: "stable", config: {} } as const;
  const scripted = (name: string): AnyPlugin => {
    const judge = () => (away.has(name) ? new AgentError("AWAY", "no server", { retryable: true }) : undefined);
    return { ...common, kind: "sink", type: name, create: () => new ScriptedSink(judge) };
  };
  const inOrder = { order: (sinks: readonly string[]) => sinks, succeeded: () => {}, failed: () => {} };
  let report: Context["report"];
  const processor = definePlugin({
    ...common,
    kind: "sink-processor",
    type: "in-order",
    create: (_config, own) => {
      report = own.report;
      return inOrder;
    },
  });
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
  const container = agentContainer({ topology, dataDir, loggers: { of: () => log } });
  const clock = settableClock();
  container.register(CLOCK, { useValue: clock });
  const agent = container.resolve(AGENT);
  const readiness = container.resolve(READINESS);
  await agent.start(1000);
  context.after(() => agent.stop(1000));
  const put = async () => {
    const transaction = agent.assembly.channels[0]?.channel.openPut();
    transaction?.put({ headers: {}, body: 1 });
    await transaction?.commit();
  };
  const found = () => ({
    obstacles: readiness.obstacles().map(({ component, reason }) => [component, reason]),
    warnings: readiness.warnings().map(({ component, reason }) => [component, reason]),
  });

  return { away, agent, readiness, clock, put, found, report: (health: HealthReport) => report?.(health) };
}

test("what a sink processor reports is shown with each sink of its group", async (context) => {
  const { clock, found, report } = await startedGroup(context);

  report({ state: "degraded", reason: "weights unknown" });
  clock.pass(20);
  const degraded = found();
  report({ state: "up" });

  assert.deepEqual(degraded.warnings, [
    ["k1", "g: weights unknown"],
    ["k2", "g: weights unknown"],
  ]);
  assert.deepEqual(found(), { obstacles: [], warnings: [] });
});

test("an agent is ready while one sink of a group stores, and shows the failure of the other one", async (context) => {
  const { away, agent, clock, put, found } = await startedGroup(context);

  await put();
  await until(
    async () => agent.assembly.channels[0]?.channel.size,
    (size) => size === 0,
  );
  clock.pass(10);
  const one = found();
  away.add("k2");
  await put();
  const second = async () => agent.assembly.sinks[1]?.sink.health.failure;
  await until(second, (failure) => failure !== undefined);
  clock.pass(100);
  const both = found();

  assert.deepEqual(one, { obstacles: [], warnings: [["k1", "no server"]] });
  assert.deepEqual(both, {
    obstacles: [
      ["k1", "no server"],
      ["k2", "no server"],
    ],
    warnings: [],
  });
});
