import assert from "node:assert/strict";
import { test } from "node:test";
import { AGENT, agentContainer, RELOAD } from "../../core/agent/container.js";
import type { Topology } from "../../core/configuration/topology.js";
import { type AnyPlugin, definePlugin, type Lifecycle } from "../../core/sdk/index.js";
import selectors from "../../plugins/channel-selectors/index.js";
import memoryChannel from "../../plugins/memory-channel/index.js";
import { bytesLeftByEach } from "../support/heap-used.js";
import { recordingLog } from "../support/recording-log.js";
import { tempFolder } from "../support/temp-folder.js";

/** Of an array of these elements, which every source and sink here has. */
const BYTES = 80_000;

const common = { summary: "for tests", stability: "stable", config: {} } as const;
const large = () => Array.from({ length: BYTES / 8 }, (_, at) => at);

/** A lifecycle that keeps a large array until it is left. */
function holding(): Lifecycle {
  const held = large();
  return {
    start: async () => {},
    stop: async () => {
      held.fill(0);
    },
  };
}

const source = definePlugin({
  ...common,
  kind: "source",
  type: "handing-over",
  create: () => {
    return {
      ...holding(),
      handOver: async () => ({ close: async () => {} }),
      takeOver: () => true,
    };
  },
});

const sink = definePlugin({
  ...common,
  kind: "sink",
  type: "large",
  create: () => {
    return {
      ...holding(),
      persist: async () => ({ requestBytes: 0, responseBytes: 0 }),
    };
  },
});

test("sources and sinks that a reload replaces are left by nothing, however many reloads come", async (context) => {
  const selector = selectors.find(({ type }) => type === "replicating");
  assert.ok(selector !== undefined);
  const node = (name: string, definition: AnyPlugin, config = {}) => ({ name, definition, config, slots: {} });
  const batching = { batchSize: 1, batchTimeout: 30, batchTtl: -1, batchRetryIntervals: [1] };
  const channel = { capacity: 10, transactionCapacity: 10, "keep-alive": 0 };
  const topology = (number: number): Topology => ({
    agent: "a",
    sources: [
      { ...node("s", source, { number }), channels: ["c"], interceptors: [], selector: node("selector", selector) },
    ],
    channels: [node("c", memoryChannel, channel)],
    sinks: [{ ...node("k", sink, { number }), channel: "c", batching }],
  });
  const { log } = recordingLog();
  const loggers = { of: () => ({ ...log, info: () => {} }) };
  const container = agentContainer({ topology: topology(0), dataDir: await tempFolder(context), loggers });
  const agent = container.resolve(AGENT);
  const reload = container.resolve(RELOAD);
  await agent.start(1000);
  context.after(() => agent.stop(10));
  let number = 0;

  const left = await bytesLeftByEach(20, async (times) => {
    for (let time = 0; time < times; time += 1) assert.ok(await reload.to(topology(++number), 1000));
  });

  assert.ok(left < BYTES / 2, `${left} bytes`);
});
