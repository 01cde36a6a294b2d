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

test("an agent is ready while its sinks store, and says which one does not, why and since when", async (context) => {
  const { log } = recordingLog();
  let away = true;
  const sink = new ScriptedSink(() => (away ? new AgentError("AWAY", "no server", { retryable: true }) : undefined));
  const common = { summary: "for tests", stability: "stable", config: {} } as const;
  const scripted: AnyPlugin = { ...common, kind: "sink", type: "scripted", create: () => sink };
  const node = (name: string, definition: AnyPlugin, config = {}) => ({ name, definition, config, slots: {} });
  const batching = { batchSize: 1, batchTimeout: 30, batchTtl: -1, batchRetryIntervals: [1] };
  const topology: Topology = {
    agent: "a",
    sources: [],
    channels: [node("c1", memoryChannel, { capacity: 10, transactionCapacity: 10, "keep-alive": 0 })],
    sinks: [{ ...node("k1", scripted), channel: "c1", batching }],
  };
  const dataDir = await tempFolder(context);
  const agent = agentContainer({ topology, dataDir, loggers: { of: () => log } }).resolve(AGENT);
  const idle = healthOf(agent);
  await agent.start(1000);
  context.after(() => agent.stop(1000));
  const started = healthOf(agent);

  const transaction = agent.assembly.channels[0]?.channel.openPut();
  transaction?.put({ headers: {}, body: 1 });
  await transaction?.commit();
  const failing = await until(
    async () => healthOf(agent),
    ({ ready }) => !ready,
  );
  away = false;
  const well = await until(
    async () => healthOf(agent),
    ({ ready }) => ready,
  );

  assert.deepEqual([idle.ready, started.ready, well.ready], [false, true, true]);
  const { failure, ...rest } = failing.components[1] ?? {};
  assert.deepEqual(rest, { kind: "sink", name: "k1", status: "START" });
  assert.equal(failure?.reason, "no server");
  assert.match(failure?.since ?? "", /^\d{4}-\d\d-\d\dT/);
});
