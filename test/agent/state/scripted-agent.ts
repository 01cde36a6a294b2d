import type { TestContext } from "node:test";
import { AGENT, agentContainer, READINESS } from "../../../core/agent/container.js";
import type { Topology } from "../../../core/configuration/topology.js";
import { AgentError, type AnyPlugin, type Context, definePlugin, type Sink } from "../../../core/sdk/index.js";
import { CLOCK } from "../../../core/tokens.js";
import memoryChannel from "../../../plugins/memory-channel/index.js";
import { recordingLog } from "../../support/recording-log.js";
import { settableClock } from "../../support/settable-clock.js";
import { tempFolder } from "../../support/temp-folder.js";
import { until } from "../../support/until.js";

const common = { summary: "for tests", stability: "stable", config: {} } as const;
const node = (name: string, definition: AnyPlugin, config = {}) => ({ name, definition, config, slots: {} });
export const away = () => new AgentError("AWAY", "no server", { retryable: true });

interface Given {
  readonly create: (context: Context) => Sink;
  readonly batchTtl?: number;
  readonly persistTimeout?: number;
  readonly capacity?: number;
  readonly deadLetterBytes?: number;
}

/** An agent with one sink of a script behind a channel in memory, on a clock of its own. */
export async function started(context: TestContext, { create, batchTtl = -1, capacity = 10, ...given }: Given) {
  const scripted = definePlugin({ ...common, kind: "sink", type: "scripted", create: (_config, own) => create(own) });
  const { persistTimeout = 0, deadLetterBytes = 0 } = given;
  const batching = { batchSize: 1, batchTimeout: 30, batchTtl, batchRetryIntervals: [1], persistTimeout };
  const topology: Topology = {
    agent: "a",
    sources: [],
    channels: [node("c1", memoryChannel, { capacity, transactionCapacity: 10, "keep-alive": 0 })],
    sinks: [{ ...node("k1", scripted), channel: "c1", batching }],
  };
  const { log } = recordingLog();
  const dataDir = await tempFolder(context);
  const deadLetterLimits = { days: 0, bytes: deadLetterBytes };
  const container = agentContainer({ topology, dataDir, loggers: { of: () => log }, deadLetterLimits });
  const clock = settableClock();
  container.register(CLOCK, { useValue: clock });
  const agent = container.resolve(AGENT);
  const readiness = container.resolve(READINESS);
  await agent.start(1000);
  context.after(() => agent.stop(100));
  const channel = agent.assembly.channels[0]?.channel;
  const put = async (...bodies: readonly unknown[]) => {
    const transaction = channel?.openPut();
    for (const body of bodies) transaction?.put({ headers: {}, body });
    await transaction?.commit();
  };
  const emptied = () =>
    until(
      async () => channel?.size,
      (size) => size === 0,
    );
  const reasons = () => readiness.obstacles().map(({ component, reason }) => `${component}: ${reason}`);
  const warnings = () => readiness.warnings().map(({ component, reason }) => `${component}: ${reason}`);
  return { agent, container, clock, readiness, put, emptied, reasons, warnings };
}
