import { dirname } from "node:path";
import type { TestContext } from "node:test";
import { AGENT, agentContainer, DEAD_LETTERS } from "../../../core/agent/container.js";
import type { Topology } from "../../../core/configuration/topology.js";
import { editedMemory } from "../../../core/files/edited-text.js";
import { managementApp } from "../../../core/management/management-app.js";
import { ManagementServer } from "../../../core/management/management-server.js";
import type { DeadLetter } from "../../../core/pipeline/dead-letters/dead-letters.js";
import type { AnyPlugin } from "../../../core/sdk/index.js";
import memoryChannel from "../../../plugins/memory-channel/index.js";
import sinkProcessors from "../../../plugins/sink-processors/index.js";
import { testLogging } from "../../support/logging.js";
import { recordingLog } from "../../support/recording-log.js";
import { partsOf } from "../../support/running-management.js";
import { ScriptedSink } from "../../support/scripted-sink.js";
import { tempFolder } from "../../support/temp-folder.js";

const [defaultProcessor] = sinkProcessors;

const common = { summary: "for tests", stability: "stable", config: {} } as const;

/** A dead letter of a sink, kept at a fixed time. */
export const deadLetter = (id: string, sink = "k1"): DeadLetter => ({
  id,
  time: "2026-01-15T10:00:00.000Z",
  sink,
  reason: "permanent",
  code: "POISON",
  message: "storing",
  attempts: 1,
  event: { headers: { name: id }, body: { n: 1 } },
});

/** A management interface over an agent of one sink, of a group or of none; its calls are those of dead letters. */
export async function serve(
  context: TestContext,
  { group, explained = () => {} }: { readonly group?: string; readonly explained?: () => void } = {},
) {
  const { log } = recordingLog();
  const sink = new ScriptedSink();
  const sinkPlugin: AnyPlugin = {
    ...common,
    kind: "sink",
    type: "scripted",
    create: () => sink,
    explain: async (_config, { body }) => {
      explained();
      if (body === "unfit") throw new Error("no table for a text");
      return { writes: [], statements: [], notes: [JSON.stringify(body)] };
    },
  };
  const node = (name: string, definition: AnyPlugin, config = {}) => ({ name, definition, config, slots: {} });
  const topology: Topology = {
    agent: "a",
    sources: [],
    channels: [node("c1", memoryChannel, { capacity: 2, transactionCapacity: 2, "keep-alive": 0 })],
    sinks: [
      {
        ...node("k1", sinkPlugin),
        channel: "c1",
        batching: { batchSize: 1, batchTimeout: 30, batchTtl: 1, batchRetryIntervals: [1] },
      },
    ],
    groups:
      group === undefined
        ? []
        : [{ name: group, sinks: ["k1"], processor: node(group, defaultProcessor), positionsTimeout: 1 }],
  };
  const dataDir = await tempFolder(context);
  const container = agentContainer({ topology, dataDir, loggers: { of: () => log } });
  const agent = container.resolve(AGENT);
  const logging = await testLogging(dataDir);
  const app = managementApp({ ...partsOf(container), logging, nameMappings: editedMemory(), log });
  const server = new ManagementServer(app, { host: "127.0.0.1", port: 0 }, log);
  await agent.start(1000);
  await server.start();
  context.after(async () => {
    await server.stop(AbortSignal.abort());
    await agent.stop(1000);
  });
  const call = async (method: string, path: string, body?: object) => {
    const init = body === undefined ? { method } : { method, body: JSON.stringify(body) };
    const response = await fetch(`http://127.0.0.1:${server.port}/v1/admin/deadletters${path}`, init);
    return { status: response.status, body: JSON.parse(await response.text()) };
  };
  const deadLetters = container.resolve(DEAD_LETTERS);
  return { call, port: server.port, sink, deadLetters, folder: dirname(deadLetters.fileOf("k1")) };
}
