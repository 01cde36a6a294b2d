import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { AGENT, agentContainer, PROMETHEUS, RELOAD } from "../../core/agent/container.js";
import type { Topology } from "../../core/configuration/topology.js";
import { type AnyPlugin, codeOf, definePlugin, type Emit, type Event, retryableOf } from "../../core/sdk/index.js";
import selectors from "../../plugins/channel-selectors/index.js";
import memoryChannel from "../../plugins/memory-channel/index.js";
import { recordingLog } from "../support/recording-log.js";
import { tempFolder } from "../support/temp-folder.js";

const common = { summary: "for tests", stability: "stable", config: {} } as const;
const node = (name: string, definition: AnyPlugin, config = {}) => ({ name, definition, config, slots: {} });
const event: Event = { headers: {}, body: 1 };

/** An agent whose source emits by hand, through an interceptor that answers when it is asked to, or never. */
async function started(context: TestContext) {
  const emits: Emit[] = [];
  const answers: (() => void)[] = [];
  const source = definePlugin({
    ...common,
    kind: "source",
    type: "by-hand",
    create: (_config, { emit, metrics }) => {
      metrics?.gauge("sources", "S.").set(1);
      emits.push(emit);
      return { start: async () => {}, stop: async () => {} };
    },
  });
  const asking = definePlugin({
    ...common,
    kind: "interceptor",
    type: "asking",
    create: (_config, { metrics }) => {
      metrics?.gauge("interceptors", "I.").set(1);
      return { intercept: (one) => new Promise((resolve) => answers.push(() => resolve(one))) };
    },
  });
  const selector = selectors.find(({ type }) => type === "replicating");
  assert.ok(selector !== undefined);
  const topology = (name: string): Topology => ({
    agent: "a",
    sources: [
      {
        ...node(name, source),
        channels: ["c1"],
        interceptors: [node(`${name}-asks`, asking)],
        selector: node("selector", selector),
      },
    ],
    channels: [node("c1", memoryChannel, { capacity: 10, transactionCapacity: 10, "keep-alive": 0 })],
    sinks: [],
  });
  const { log } = recordingLog();
  const loggers = { of: () => log };
  const container = agentContainer({ topology: topology("s1"), dataDir: await tempFolder(context), loggers });
  const agent = container.resolve(AGENT);
  await agent.start(1000);
  context.after(() => agent.stop(10));
  const emit = (at: number) => {
    const emitting = emits[at]?.([event]) ?? Promise.reject(new Error("there is no such source"));
    return emitting.then(
      () => "put",
      (error: unknown) => [codeOf(error), retryableOf(error)],
    );
  };
  return { agent, container, topology, emit, answers };
}

test("a stop refuses what waits for an interceptor, so that it can be sent again", async (context) => {
  const { agent, emit } = await started(context);

  const outcome = emit(0);
  await agent.stop(20);

  assert.deepEqual(await outcome, ["INTERCEPTOR_FAILED", true]);
});

test("a reload refuses what waits in a source that goes, and what waits in its successor stays", async (context) => {
  const { container, topology, emit, answers } = await started(context);

  const old = emit(0);
  const ok = await container.resolve(RELOAD).to(topology("s2"), 20);
  const young = emit(1);
  for (const answer of answers) answer();

  assert.deepEqual([ok, await old, await young], [true, ["INTERCEPTOR_FAILED", true], "put"]);
});

test("a reload that leaves the source as it is disturbs no look-up", async (context) => {
  const { container, topology, emit, answers } = await started(context);

  const outcome = emit(0);
  const ok = await container.resolve(RELOAD).to(topology("s1"), 20);
  for (const answer of answers) answer();

  assert.deepEqual([ok, await outcome], [true, "put"]);
});

test("after a reload the metrics of what it removed are gone, those of nested components too", async (context) => {
  const { container, topology } = await started(context);
  const own = async () => (await container.resolve(PROMETHEUS).text()).match(/^deneb_plugin_.*$/gm);

  const before = await own();
  await container.resolve(RELOAD).to(topology("s2"), 20);

  assert.deepEqual(before?.sort(), [
    'deneb_plugin_interceptors{component="s1.s1-asks"} 1',
    'deneb_plugin_sources{component="s1"} 1',
  ]);
  assert.deepEqual((await own())?.sort(), [
    'deneb_plugin_interceptors{component="s2.s2-asks"} 1',
    'deneb_plugin_sources{component="s2"} 1',
  ]);
});
