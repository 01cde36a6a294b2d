import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { AGENT, agentContainer, RELOAD, STATISTICS } from "../../core/agent/container.js";
import type { Topology } from "../../core/configuration/topology.js";
import { AgentError, type AnyPlugin, type Channel, type Context, type Event } from "../../core/sdk/index.js";
import { MemoryChannel } from "../../plugins/memory-channel/memory-channel.js";
import { recordingLog } from "../support/recording-log.js";
import { ScriptedSink } from "../support/scripted-sink.js";
import { tempFolder } from "../support/temp-folder.js";
import { until } from "../support/until.js";

/** What a disk would hold for a channel, and who has it open. */
class Disk {
  events: readonly Event[] = [];
  open = false;
}

/** A channel that loads its events at start and leaves them on its disk at stop, like one with files. */
class DiskChannel implements Channel {
  readonly durable = true;
  readonly #memory: MemoryChannel;
  readonly #disk: Disk;
  readonly transactionCapacity = 100;

  constructor(disk: Disk, context: Context) {
    this.#disk = disk;
    this.#memory = new MemoryChannel({ capacity: 100, transactionCapacity: 100, "keep-alive": 0 }, context);
  }

  get size(): number {
    return this.#memory.size;
  }

  async start(): Promise<void> {
    if (this.#disk.open)
      throw new AgentError("LOCKED", "opening the disk, which another channel has open", { retryable: false });
    this.#disk.open = true;
    const put = this.#memory.openPut();
    for (const event of this.#disk.events) put.put(event);
    await put.commit();
  }

  async stop(): Promise<void> {
    if (!this.#disk.open) return;
    this.#disk.events = await this.#memory.openTake().take(100, AbortSignal.abort());
    this.#disk.open = false;
    await this.#memory.stop();
  }

  openPut() {
    return this.#memory.openPut();
  }

  openTake() {
    return this.#memory.openTake();
  }
}

const common = { summary: "for tests", stability: "stable", config: {} } as const;

async function setUp(context: TestContext, change: (channel: DiskChannel) => DiskChannel = (channel) => channel) {
  const disk = new Disk();
  const { log } = recordingLog();
  const store = { away: true };
  const sink = new ScriptedSink(() =>
    store.away ? new AgentError("AWAY", "storing", { retryable: true }) : undefined,
  );
  const channelPlugin: AnyPlugin = {
    ...common,
    kind: "channel",
    type: "disk",
    create: () =>
      change(new DiskChannel(disk, { name: "c", log, dataDir: "unused", run: "run", now: () => new Date(0) })),
  };
  const sinkPlugin: AnyPlugin = { ...common, kind: "sink", type: "scripted", create: () => sink };
  const node = (name: string, definition: AnyPlugin, config = {}) => ({ name, definition, config, slots: {} });
  const batching = { batchSize: 1, batchTimeout: 30, batchTtl: -1, batchRetryIntervals: [1] };
  const topology = (config: Readonly<Record<string, unknown>>): Topology => ({
    agent: "a",
    sources: [],
    channels: [node("c", channelPlugin, config)],
    sinks: [{ ...node("k", sinkPlugin), channel: "c", batching }],
  });
  const dataDir = await tempFolder(context);
  const start = async () => {
    const container = agentContainer({ topology: topology({}), dataDir, loggers: { of: () => log } });
    const agent = container.resolve(AGENT);
    await agent.start(200);
    context.after(() => agent.stop(200));
    const ledger = () => container.resolve(STATISTICS).snapshot().ledger.channels[0];
    return { agent, ledger, reload: container.resolve(RELOAD) };
  };
  return { start, sink, store, topology };
}

async function put(channel: Channel | undefined, ...bodies: readonly number[]): Promise<void> {
  const transaction = channel?.openPut();
  for (const body of bodies) transaction?.put({ headers: {}, body });
  await transaction?.commit();
}

const bodies = ({ stored }: ScriptedSink) => stored.map(({ body }) => body);

test("a durable channel that is replaced is closed before it is opened again, and its events stay", async (context) => {
  const { start, sink, store, topology } = await setUp(context);
  const { agent, ledger, reload } = await start();
  await put(agent.assembly.channels[0]?.channel, 1, 2, 3);

  const reloaded = await reload.to(topology({ capacity: 200 }), 1000);
  store.away = false;
  const account = await until(
    async () => ledger(),
    (seen) => seen?.waiting === 0,
  );

  assert.equal(reloaded, true);
  assert.deepEqual(bodies(sink), [1, 2, 3]);
  assert.deepEqual([account?.received, account?.stored, account?.unaccounted], [3, 3, 0]);
});

test("a channel that does not end the take in which it is asked for its name keeps no agent from starting", async (context) => {
  const names = { asked: 0 };
  const { start, sink, store } = await setUp(context, (channel) => {
    const openTake = channel.openTake.bind(channel);
    const openFirst = () => {
      names.asked += 1;
      return names.asked === 1
        ? Object.assign(openTake(), { rollback: () => new Promise<void>(() => {}) })
        : openTake();
    };
    return Object.assign(channel, { openTake: openFirst });
  });
  store.away = false;

  const { agent, ledger } = await start();
  await put(agent.assembly.channels[0]?.channel, 1);
  await until(
    async () => ledger(),
    (seen) => seen?.waiting === 0,
  );

  assert.ok(names.asked > 1);
  assert.deepEqual(bodies(sink), [1]);
});

test("the ledger of a durable channel goes on over a restart", async (context) => {
  const { start, sink, store } = await setUp(context);
  const first = await start();
  await put(first.agent.assembly.channels[0]?.channel, 1, 2, 3);
  await first.agent.stop(50);
  store.away = false;

  const second = await start();
  await put(second.agent.assembly.channels[0]?.channel, 4);
  const account = await until(
    async () => second.ledger(),
    (seen) => seen?.waiting === 0,
  );

  assert.deepEqual(bodies(sink), [1, 2, 3, 4]);
  const { received, stored, uncounted, unaccounted } = account ?? {};
  assert.deepEqual(
    { received, stored, uncounted, unaccounted },
    { received: 4, stored: 4, uncounted: 0, unaccounted: 0 },
  );
});
