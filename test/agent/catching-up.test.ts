import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { type TestContext, test } from "node:test";
import { AGENT, agentContainer, RELOAD, STATISTICS } from "../../core/agent/container.js";
import type { Topology } from "../../core/configuration/topology.js";
import type { AnyPlugin, Channel } from "../../core/sdk/index.js";
import { channelIn } from "../plugins/file-channel/channel-folder.js";
import { put } from "../support/delivering.js";
import { KeepingSink, KeepingStore } from "../support/keeping-sink.js";
import { recordingLog } from "../support/recording-log.js";
import { room, storingAgent } from "../support/storing-agent.js";
import { tempFolder } from "../support/temp-folder.js";
import { until } from "../support/until.js";

type Wishes = Readonly<Record<string, "wrong port" | "right port" | "refuses to start" | "starts late">>;

const common = { summary: "for tests", stability: "stable", config: {} } as const;
const batching = { batchSize: 1, batchTimeout: 30, batchTtl: 10, batchTtlGiven: false, batchRetryIntervals: [1] };

/** Agents, one after another, with one file channel and a sink for each store. */
async function setUp(context: TestContext, ...names: readonly string[]) {
  const dataDir = await tempFolder(context);
  const { log, lines } = recordingLog();
  const stores = new Map(names.map((name) => [name, new KeepingStore()]));
  let startLate = () => {};
  const started = new Promise<void>((resolve) => {
    startLate = resolve;
  });
  const lateRows: unknown[] = [];
  const late = { started, start: () => startLate(), rows: lateRows };
  const channelPlugin: AnyPlugin = {
    ...common,
    kind: "channel",
    type: "file",
    create: (): Channel => channelIn(dataDir).channel,
  };
  const sinkPlugin = (name: string, wish: string): AnyPlugin => ({
    ...common,
    kind: "sink",
    type: `keeping ${wish}`,
    create: () => {
      const sink = new KeepingSink(stores.get(name) ?? new KeepingStore(), wish === "right port");
      if (wish === "starts late") {
        sink.start = () => late.started;
        sink.positions.stored = async () => [];
        sink.persist = async ({ events }) => {
          late.rows.push(...events.map(({ body }) => body));
          return { requestBytes: 0, responseBytes: 0 };
        };
      }
      if (wish === "refuses to start") sink.start = () => Promise.reject(new Error("no such option"));
      return sink;
    },
  });
  const topology = (wishes: Wishes): Topology => ({
    agent: "a",
    sources: [],
    channels: [{ name: "c", definition: channel, config: {}, slots: {} }],
    sinks: Object.entries(wishes).map(([name, wish]) => ({
      name,
      definition: definitionOf(name, wish),
      config: { wish },
      slots: {},
      channel: "c",
      batching,
    })),
  });
  const channel = channelPlugin;
  const definitions = new Map<string, AnyPlugin>();
  const definitionOf = (name: string, wish: string) => {
    const key = `${name} ${wish}`;
    const definition = definitions.get(key) ?? sinkPlugin(name, wish);
    definitions.set(key, definition);
    return definition;
  };
  const start = async (wishes: Wishes) => {
    const container = agentContainer({ topology: topology(wishes), dataDir, loggers: { of: () => log } });
    const agent = container.resolve(AGENT);
    await agent.start(200);
    context.after(() => agent.stop(200));
    const reload = container.resolve(RELOAD);
    const ledger = () => container.resolve(STATISTICS).snapshot().ledger.channels[0];
    return {
      agent,
      ledger,
      reload: (to: Wishes) => reload.to(topology(to), 1000),
      put: async (...bodies: readonly number[]) => {
        const [running] = agent.assembly.channels;
        assert.ok(running);
        await put(running.channel, ...bodies);
      },
      emptied: () =>
        until(
          async () => ledger(),
          // The ledger is written just after the channel has let an event go.
          (seen) => seen?.waiting === 0 && seen.unaccounted === 0,
        ),
    };
  };
  const store = (name: string) => {
    const found = stores.get(name);
    assert.ok(found);
    return found;
  };
  return { start, store, lines, late };
}

/** Resolves when the log has such a line. */
async function logged(lines: readonly { readonly message: string }[], text: string): Promise<void> {
  await until(
    async () => lines.some(({ message }) => message.includes(text)),
    (seen) => seen,
  );
}

const cannotRead = "what is stored already cannot be read";

test("a sink whose port is corrected by a reload stores what waited for it", async (context) => {
  const { start, store, lines } = await setUp(context, "k");
  const { put, reload, emptied, agent } = await start({ k: "wrong port" });
  await put(1, 2, 3);
  await logged(lines, cannotRead);
  const before = agent.assembly.sinks[0]?.sink.health.failure?.reason;

  const reloaded = await reload({ k: "right port" });
  await put(4);
  const account = await emptied();

  assert.equal(reloaded, true);
  assert.equal(before, "no server at this port");
  assert.equal(agent.assembly.sinks[0]?.sink.health.failure, undefined);
  assert.deepEqual(store("k").rows, [1, 2, 3, 4]);
  assert.equal(account?.stored, 4);
});

test("another sink of the channel goes on when the one that it waits for is removed", async (context) => {
  const { start, store, lines } = await setUp(context, "gone", "stays");
  const { put, reload, emptied } = await start({ gone: "wrong port", stays: "right port" });
  await put(1, 2);
  await logged(lines, cannotRead);

  await reload({ stays: "right port" });
  await emptied();

  assert.deepEqual(store("stays").rows, [1, 2]);
});

test("what a corrected sink has stored already is not stored by the sink that waited for it", async (context) => {
  const { start, store, lines } = await setUp(context, "one", "other");
  store("one").losesAnswers = true;
  store("other").failure = new Error("not yet");
  const first = await start({ one: "right port" });
  await first.put(1, 2, 3);
  await until(
    async () => store("one").rows.length,
    (rows) => rows >= 3,
  );
  await first.agent.stop(0);
  store("one").losesAnswers = false;
  store("one").rows.length = 3;
  store("other").failure = undefined;

  const second = await start({ one: "wrong port", other: "right port" });
  await second.put(4);
  await logged(lines, cannotRead);
  await second.reload({ one: "right port", other: "right port" });
  await second.emptied();

  const rows = [...store("one").rows, ...store("other").rows];
  assert.deepEqual(rows.toSorted(), [1, 2, 3, 4]);
});

test("a reload whose new sink does not start leaves nobody waiting", async (context) => {
  const { start, store, lines } = await setUp(context, "k", "other");
  const { put, reload, emptied } = await start({ k: "wrong port", other: "right port" });
  await put(1, 2);
  await logged(lines, cannotRead);

  const failed = await reload({ k: "refuses to start", other: "right port" });
  const corrected = await reload({ k: "right port", other: "right port" });
  await emptied();

  assert.deepEqual([failed, corrected], [false, true]);
  assert.deepEqual([...store("k").rows, ...store("other").rows], [1, 2]);
});

test("a new sink whose start hangs is taken back, and takes nothing when it has started after all", async (context) => {
  const { start, store, late } = await setUp(context, "k", "other");
  const { put, reload, emptied, agent } = await start({ k: "right port" });
  await put(1);
  await emptied();

  const reloaded = await reload({ k: "right port", other: "starts late" });
  late.start();
  await new Promise<void>((resolve) => setImmediate(resolve));
  for (const body of [2, 3, 4, 5]) {
    await put(body);
    await emptied();
  }

  assert.equal(reloaded, false);
  assert.deepEqual(
    agent.assembly.sinks.map(({ name }) => name),
    ["k"],
  );
  assert.deepEqual([store("k").rows, late.rows], [[1, 2, 3, 4, 5], []]);
});

test("a sink that is added later leaves out what its store has already, and others take meanwhile", async (context) => {
  const { start, store } = await setUp(context, "first", "added");
  store("first").losesAnswers = true;
  const { put, reload, emptied } = await start({ first: "right port" });
  await put(1, 2, 3);
  await until(
    async () => store("first").position !== undefined,
    (seen) => seen,
  );
  // The database moved to another sink of the file; the answers of the last write never came.
  store("added").position = store("first").position;
  store("first").failure = new Error("moved");

  await reload({ added: "right port" });
  await put(4);
  const account = await emptied();

  assert.deepEqual(store("added").rows, [4]);
  assert.equal(account?.stored, 4);
});

test("an agent whose port of PostgreSQL is corrected while it runs has every row once", async (context) => {
  const storing = await storingAgent(context, "deneb.channels.c.type = file", "deneb.sinks.rdb-sink.rdb_port = 1");
  if (storing === undefined) return;
  const { agent, post, propertiesFile, properties, database, settled } = storing;
  assert.equal(await post([room(1), room(2)]), 200);
  const told = (text: string) => () => Promise.resolve(agent.lines.some(({ msg }) => String(msg).includes(text)));
  await until(told(cannotRead), (seen) => seen);

  await writeFile(propertiesFile, properties(`deneb.sinks.rdb-sink.rdb_port = ${database.port}`));
  agent.process.kill("SIGHUP");
  await until(told("configuration reloaded"), (seen) => seen);
  assert.equal(await post([room(3)]), 200);
  const ledger = await settled();

  const rows = await database.query("select entityid from svc.room order by entityid");
  assert.deepEqual(
    rows.map(({ entityid }) => entityid),
    ["urn:room:1", "urn:room:2", "urn:room:3"],
  );
  assert.equal(ledger.dead_lettered, 0);
});
