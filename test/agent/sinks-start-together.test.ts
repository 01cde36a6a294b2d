import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { AGENT, agentContainer, RELOAD } from "../../core/agent/container.js";
import type { Topology } from "../../core/configuration/topology.js";
import { AgentError, definePlugin, type Sink } from "../../core/sdk/index.js";
import memoryChannel from "../../plugins/memory-channel/index.js";
import { recordingLog } from "../support/recording-log.js";
import { ScriptedSink } from "../support/scripted-sink.js";
import { tempFolder } from "../support/temp-folder.js";

const NAMES = ["first", "second", "third"];

/** Sinks that start as soon as three of them have begun to. */
class MeetingSinks {
  readonly stopped: string[] = [];
  readonly #fails: readonly string[];
  #waiting: (() => void)[] = [];

  constructor(fails: readonly string[] = []) {
    this.#fails = fails;
  }

  create(name: string): Sink {
    const sink = new ScriptedSink();
    sink.start = async () => {
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
        if (this.#waiting.length === NAMES.length) this.#meet();
      });
      if (this.#fails.includes(name))
        throw new AgentError("NOT_ALLOWED", `sink "${name}" may not`, { retryable: false });
    };
    sink.stop = async () => {
      this.stopped.push(name);
    };
    return sink;
  }

  #meet(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting = [];
  }
}

async function agentOf(context: TestContext, sinks: MeetingSinks) {
  const definition = definePlugin({
    kind: "sink",
    type: "meeting",
    summary: "for tests",
    stability: "stable",
    config: {},
    create: (_config, { name }) => sinks.create(name),
  });
  const topology = (batchSize: number): Topology => ({
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
    sinks: NAMES.map((name) => ({
      name,
      definition,
      config: {},
      slots: {},
      channel: "c",
      batching: { batchSize, batchTimeout: 30, batchTtl: -1, batchRetryIntervals: [1] },
    })),
  });
  const { log, lines } = recordingLog();
  const dataDir = await tempFolder(context);
  const container = agentContainer({ topology: topology(1), dataDir, loggers: { of: () => log } });
  return { agent: container.resolve(AGENT), reload: container.resolve(RELOAD), topology, lines };
}

test("sinks start side by side, at the start of the agent and in a reload", { timeout: 120_000 }, async (context) => {
  const { agent, reload, topology } = await agentOf(context, new MeetingSinks());
  context.after(() => agent.stop(10));

  await agent.start(1000);
  const reloaded = await reload.to(topology(2), 10_000);

  assert.equal(reloaded, true);
  assert.deepEqual(
    agent.assembly.sinks.map(({ name, status }) => [name, status]),
    NAMES.map((name) => [name, "START"]),
  );
});

test("of sinks that fail to start the first one is named, when the others have ended, and all are stopped", {
  timeout: 120_000,
}, async (context) => {
  const sinks = new MeetingSinks(["third", "second"]);
  const { agent } = await agentOf(context, sinks);

  await assert.rejects(agent.start(1000), { code: "NOT_ALLOWED", message: /second/ });

  assert.deepEqual(sinks.stopped.toSorted(), NAMES);
});

test("a start that fails is logged with its reason before the stop, which may take long", {
  timeout: 120_000,
}, async (context) => {
  const { agent, lines } = await agentOf(context, new MeetingSinks(["second"]));

  await assert.rejects(agent.start(1000));

  const said = lines.map(({ message }) => message);
  const failed = said.indexOf("the start failed; what has started is stopped");
  assert.match(String(Reflect.get(lines[failed]?.fields ?? {}, "reason")), /sink "second" may not/);
  assert.ok(failed < said.indexOf("agent stopped"));
});
