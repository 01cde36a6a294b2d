import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import path from "node:path";
import { type TestContext, test } from "node:test";
import { AGENT, agentContainer, RELOAD } from "../../core/agent/container.js";
import type { Topology } from "../../core/configuration/topology.js";
import { type AnyPlugin, definePlugin } from "../../core/sdk/index.js";
import selectors from "../../plugins/channel-selectors/index.js";
import { MemoryChannel } from "../../plugins/memory-channel/memory-channel.js";
import { type AgentProcess, startAgent } from "../support/agent-process.js";
import { httpAgent } from "../support/http-agent.js";
import { numberedRoom, postEntities } from "../support/post-entities.js";
import { recordingLog } from "../support/recording-log.js";
import { ScriptedSink } from "../support/scripted-sink.js";
import { tempFolder } from "../support/temp-folder.js";
import { until } from "../support/until.js";

const away = "rdb\na.sinks.k.rdb_host = 127.0.0.1\na.sinks.k.rdb_port = 1";

/** An agent with a channel of this type that holds two events, because its store is away. */
async function waiting(context: TestContext, channel: string) {
  const folder = await tempFolder(context);
  const agent = await startAgent(context, { folder, properties: httpAgent({ channel, sink: away }) });
  await post(agent, 1);
  await post(agent, 2);
  const ends = ["configuration reloaded", "the configuration before runs again"];
  const reload = async (text: string): Promise<unknown> => {
    const before = agent.lines.length;
    await writeFile(path.join(folder, "agent.properties"), text);
    agent.process.kill("SIGHUP");
    const seen = await until(
      async () => agent.lines.slice(before).find(({ msg }) => ends.includes(String(msg))),
      (line) => line !== undefined,
    );
    return seen?.["msg"];
  };
  return { folder, agent, reload };
}

async function post(agent: AgentProcess, number: number): Promise<void> {
  await postEntities(agent, [numberedRoom(number)], "back");
}

interface Books {
  readonly received: number;
  readonly stored: number;
  readonly waiting: number;
  readonly unaccounted: number;
}

async function books({ managementUrl }: AgentProcess): Promise<Books> {
  const { stats } = JSON.parse(await (await fetch(`${managementUrl}/v1/stats`)).text());
  const [{ received, stored, waiting, unaccounted }] = stats.ledger.channels;
  return { received, stored, waiting, unaccounted };
}

const settled = (agent: AgentProcess, stored: number) =>
  until(
    () => books(agent),
    (seen) => seen.waiting === 0 && seen.stored === stored,
  );

test("events that a reload moves from memory to disk are in the ledger as before", async (context) => {
  const { agent, reload } = await waiting(context, "memory");

  const end = await reload(httpAgent({ channel: "file", sink: away }));
  const moved = await books(agent);
  await reload(httpAgent({ channel: "file", sink: "logger" }));
  const stored = await settled(agent, 2);

  assert.equal(end, "configuration reloaded");
  assert.deepEqual(moved, { received: 2, stored: 0, waiting: 2, unaccounted: 0 });
  assert.deepEqual(stored, { received: 2, stored: 2, waiting: 0, unaccounted: 0 });
});

test("a reload that replaces a channel in memory does not wait for a store that is away", async (context) => {
  const { agent, reload } = await waiting(context, "memory");
  const began = performance.now();

  await reload(`${httpAgent({ channel: "memory", sink: away })}a.channels.c.capacity = 200`);
  const took = performance.now() - began;

  // Less than the grace period, for which senders would have waited.
  assert.ok(took < 25_000, `${took} ms`);
  assert.deepEqual(await books(agent), { received: 2, stored: 0, waiting: 2, unaccounted: 0 });
});

const STAY = "events stay where the channel kept them";

for (const { what, line, warned } of [
  { what: "capacity", line: "a.channels.c.capacity = 200000", warned: 0 },
  { what: "folder", line: "a.channels.c.dataDirs = other", warned: 1 },
])
  test(`a reload that changes the ${what} of a channel on disk warns ${warned} times of events that stay`, async (context) => {
    const { folder, agent, reload } = await waiting(context, "file");

    const end = await reload(
      `${httpAgent({ channel: "file", sink: away })}${line.replace("other", path.join(folder, "other"))}\n`,
    );

    assert.equal(end, "configuration reloaded");
    assert.equal(agent.lines.filter(({ msg }) => msg === STAY).length, warned);
  });

test("events that stay on disk when a reload makes their channel forget are no difference, and a start warns of them", async (context) => {
  const { folder, agent, reload } = await waiting(context, "file");

  await reload(httpAgent({ channel: "memory", sink: "logger" }));
  await post(agent, 3);
  const meanwhile = await settled(agent, 1);
  await agent.end("SIGTERM");
  const next = await startAgent(context, { folder, properties: httpAgent({ channel: "memory", sink: "logger" }) });
  await next.end("SIGTERM");

  assert.equal(meanwhile.unaccounted, 0);
  const told = next.lines.filter(({ msg }) => msg === "events wait in a channel that nobody takes from");
  assert.deepEqual(
    told.map(({ channel, events }) => [channel, events]),
    [["c", 2]],
  );
});

test("a reload that fails takes the events back that it had moved to disk", async (context) => {
  const { agent, reload } = await waiting(context, "memory");
  const taken = createServer().listen(0, "127.0.0.1");
  context.after(() => taken.close());
  await once(taken, "listening");
  const address = taken.address();
  assert.ok(typeof address === "object" && address !== null);

  const end = await reload(httpAgent({ channel: "file", sink: away, port: address.port }));
  const back = await books(agent);
  await reload(httpAgent({ channel: "memory", sink: "logger" }));
  const stored = await settled(agent, 2);

  assert.equal(end, "the configuration before runs again");
  assert.deepEqual(back, { received: 2, stored: 0, waiting: 2, unaccounted: 0 });
  assert.deepEqual(stored, { received: 2, stored: 2, waiting: 0, unaccounted: 0 });
});

/** Keeps its events, as far as an agent can tell. */
class KeepingChannel extends MemoryChannel {
  readonly durable = true;
}

const common = { summary: "for tests", stability: "stable", config: {} } as const;

test("what a source accepts into a new channel before a reload fails is stored", async (context) => {
  const { log } = recordingLog();
  const sink = new ScriptedSink(() => undefined);
  const channel = definePlugin({
    ...common,
    kind: "channel",
    type: "keeping",
    create: (_config, of) => new KeepingChannel({ capacity: 100, transactionCapacity: 100, "keep-alive": 0 }, of),
  });
  const accepting = definePlugin({
    ...common,
    kind: "source",
    type: "accepting",
    create: (_config, { emit }) => ({
      start: () => emit([1, 2, 3].map((body) => ({ headers: {}, body }))),
      stop: async () => {},
    }),
  });
  const failing = definePlugin({
    ...common,
    kind: "source",
    type: "failing",
    create: () => ({
      start: async () => {
        throw new Error("the port is in use");
      },
      stop: async () => {},
    }),
  });
  const sinkPlugin = definePlugin({ ...common, kind: "sink", type: "scripted", create: () => sink });
  const replicating = selectors.find(({ type }) => type === "replicating");
  assert.ok(replicating !== undefined);
  const node = (name: string, definition: AnyPlugin) => ({ name, definition, config: {}, slots: {} });
  const source = (name: string, definition: AnyPlugin) => {
    const links = { channels: ["d"], interceptors: [], selector: node("selector", replicating) };
    return { ...node(name, definition), ...links };
  };
  // More than there are: the sink waits for others when the reload fails.
  const batching = { batchSize: 100, batchTimeout: 30, batchTtl: -1, batchRetryIntervals: [1] };
  const sinkOf = (name: string) => ({ ...node(`sink of ${name}`, sinkPlugin), channel: name, batching });
  const topology = (names: readonly string[], sources: Topology["sources"]): Topology => ({
    agent: "a",
    sources,
    channels: names.map((name) => node(name, channel)),
    sinks: names.map(sinkOf),
  });
  const dataDir = await tempFolder(context);
  const container = agentContainer({ topology: topology(["c"], []), dataDir, loggers: { of: () => log } });
  const agent = container.resolve(AGENT);
  await agent.start(200);
  context.after(() => agent.stop(200));

  const sources = [source("one", accepting), source("two", failing)];
  const reloaded = await container.resolve(RELOAD).to(topology(["c", "d"], sources), 1000);

  assert.equal(reloaded, false);
  assert.deepEqual(
    sink.stored.map(({ body }) => body),
    [1, 2, 3],
  );
});
