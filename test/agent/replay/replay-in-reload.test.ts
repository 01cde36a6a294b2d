import assert from "node:assert/strict";
import { test } from "node:test";
import { AGENT, agentContainer, DEAD_LETTER_REPLAY, DEAD_LETTERS, RELOAD } from "../../../core/agent/container.js";
import type { Topology } from "../../../core/configuration/topology.js";
import { definePlugin } from "../../../core/sdk/index.js";
import memoryChannel from "../../../plugins/memory-channel/index.js";
import { latch } from "../../support/latch.js";
import { recordingLog } from "../../support/recording-log.js";
import { ScriptedSink } from "../../support/scripted-sink.js";
import { tempFolder } from "../../support/temp-folder.js";

test("a replay that is asked for while a reload replaces its sink waits for the new one", async (context) => {
  const { opened: starting, open: started } = latch();
  const { opened: released, open: release } = latch();
  let sinks = 0;
  const create = () => {
    sinks += 1;
    const isFirst = sinks === 1;
    const sink = new ScriptedSink();
    sink.start = async () => {
      if (isFirst) return;
      started();
      await released;
    };
    return sink;
  };
  const plugin = definePlugin({ kind: "sink", type: "s", summary: "tests", stability: "stable", config: {}, create });
  const topology = (batchTimeout: number): Topology => ({
    agent: "a",
    sources: [],
    channels: [
      {
        name: "c",
        definition: memoryChannel,
        config: { capacity: 10, transactionCapacity: 10, "keep-alive": 0 },
        slots: {},
      },
    ],
    sinks: [
      {
        name: "k",
        definition: plugin,
        config: {},
        slots: {},
        channel: "c",
        batching: { batchSize: 1, batchTimeout, batchTtl: -1, batchRetryIntervals: [1] },
      },
    ],
  });
  const { log } = recordingLog();
  const dataDir = await tempFolder(context);
  const container = agentContainer({ topology: topology(30), dataDir, loggers: { of: () => log } });
  const agent = container.resolve(AGENT);
  await agent.start(1000);
  context.after(() => agent.stop(10));
  const time = "2026-01-15T10:00:00.000Z";
  const event = { headers: {}, body: {} };
  await container
    .resolve(DEAD_LETTERS)
    .keep([{ id: "letter-1", time, sink: "k", reason: "permanent", message: "refused", attempts: 1, event }]);

  const reloading = container.resolve(RELOAD).to(topology(31), 3_600_000);
  await starting;
  const replay = container.resolve(DEAD_LETTER_REPLAY);
  const replaying = replay.replay({});
  // One that did not wait would have ended before this.
  await replay.drop({ id: "of-no-letter" });
  release();

  assert.equal(await reloading, true);
  assert.deepEqual(await replaying, { replayed: 1, underway: 0, refusals: [] });
});
