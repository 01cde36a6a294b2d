import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { AGENT, agentContainer } from "../../../core/agent/container.js";
import { ExplainRunning } from "../../../core/agent/explain/explain-running.js";
import { silentLoggers } from "../../../core/logging/loggers.js";
import type { AnyPlugin, Explanation } from "../../../core/sdk/index.js";
import { systemClock } from "../../../core/tokens.js";
import { tempFolder } from "../../support/temp-folder.js";

const common = { summary: "for tests", stability: "stable", config: {} } as const;
const lifecycle = { start: async () => {}, stop: async () => {} };
const handler: AnyPlugin = {
  ...common,
  kind: "handler",
  type: "one-event",
  create: () => ({ decode: () => ({ events: [{ headers: {}, body: 1 }], service: "s", servicePath: "/" }) }),
};
const source: AnyPlugin = { ...common, kind: "source", type: "quiet", create: () => lifecycle };
const selector: AnyPlugin = {
  ...common,
  kind: "selector",
  type: "all",
  create: () => ({ select: () => ({ required: ["c"], optional: [] }) }),
};
const channel: AnyPlugin = {
  ...common,
  kind: "channel",
  type: "none",
  create: () => ({ ...lifecycle, size: 0, transactionCapacity: 1, openPut: assert.fail, openTake: assert.fail }),
};
const node = (name: string, definition: AnyPlugin) => ({ name, definition, config: {}, slots: {} });
const batching = { batchSize: 1, batchTimeout: 1, batchTtl: 0, batchRetryIntervals: [1] };

/** An agent whose second sink explains as the given function does. */
async function explaining(
  context: TestContext,
  explain: () => Promise<Explanation>,
  longest: number,
  decoding: AnyPlugin = handler,
) {
  const sink = (type: string, own: () => Promise<Explanation>): AnyPlugin => ({
    ...common,
    kind: "sink",
    type,
    create: () => ({ ...lifecycle, persist: async () => ({}) }),
    explain: own,
  });
  const done = async () => ({ writes: [], statements: [], notes: ["done"] });
  const topology = {
    agent: "a",
    sources: [
      {
        ...node("s", source),
        slots: { handler: node("h", decoding) },
        channels: ["c"],
        interceptors: [],
        selector: node("x", selector),
      },
    ],
    channels: [node("c", channel)],
    sinks: [
      { ...node("one", sink("quick", done)), channel: "c", batching },
      { ...node("two", sink("slow", explain)), channel: "c", batching },
    ],
  };
  const dataDir = await tempFolder(context);
  // The limit of an explanation does not keep a process.
  const alive = setInterval(() => {}, 1000);
  context.after(() => clearInterval(alive));
  const agent = agentContainer({ topology, dataDir, loggers: silentLoggers }).resolve(AGENT);
  return new ExplainRunning({ agent, clock: systemClock, dataDir, longest });
}

const request = { method: "POST", headers: {}, body: Buffer.from("{}") };

test("a sink that never answers does not keep an explanation: the others are shown", async (context) => {
  const running = await explaining(context, () => new Promise(() => {}), 20);

  const { events, complete } = await running.explain(request);
  const again = await running.explain(request);

  assert.equal(complete, false);
  assert.deepEqual(
    events.map(({ sinks }) => sinks.map(({ sink }) => sink)),
    [["one"]],
  );
  assert.equal(again.events.length, 1);
});

test("each explanation ends a turn of the event loop, so that many of them hold up nothing else", async (context) => {
  const events = Array.from({ length: 20 }, () => ({ headers: {}, body: 1 }));
  const many: AnyPlugin = {
    ...handler,
    create: () => ({ decode: () => ({ events, service: "s", servicePath: "/" }) }),
  };
  let turn = 0;
  const turns: number[] = [];
  const explain = async () => {
    turns.push(turn);
    return { writes: [], statements: [], notes: [] };
  };
  const running = await explaining(context, explain, 60_000, many);
  let isOver = false;
  const count = () => {
    turn += 1;
    if (!isOver) setImmediate(count);
  };
  count();

  await running.explain(request);
  isOver = true;

  assert.equal(new Set(turns).size, events.length);
});

test("two explanations are made at the same time, a third one is refused", async (context) => {
  let end = () => {};
  const answered = new Promise<Explanation>((resolve) => {
    end = () => resolve({ writes: [], statements: [], notes: [] });
  });
  const running = await explaining(context, () => answered, 60_000);
  const both = [running.explain(request), running.explain(request)];

  await assert.rejects(running.explain(request), { code: "TOO_MANY_EXPLANATIONS", retryable: true });
  end();
  const explained = await Promise.all(both);
  const third = await running.explain(request);

  assert.deepEqual(
    [...explained, third].map(({ complete }) => complete),
    [true, true, true],
  );
});

test("an unknown source is refused with the names of those that are there", async (context) => {
  const running = await explaining(context, async () => ({ writes: [], statements: [], notes: [] }), 60_000);

  await assert.rejects(running.explain({ ...request, source: "x" }), {
    code: "NO_SUCH_SOURCE",
    message: /source "x"; the sources with a handler are: "s"/,
  });
});
