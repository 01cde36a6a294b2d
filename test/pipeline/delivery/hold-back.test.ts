import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { DeadLetters } from "../../../core/pipeline/dead-letters/dead-letters.js";
import {
  AgentError,
  type Batch,
  type Channel,
  type Event,
  type Sink,
  type StoreAnswer,
} from "../../../core/sdk/index.js";
import type { LogConfig } from "../../../plugins/file-channel/file-channel.js";
import { openIn } from "../../plugins/file-channel/channel-folder.js";
import { feedOf } from "../../support/delivering.js";
import { recordingLog } from "../../support/recording-log.js";
import { tempFolder } from "../../support/temp-folder.js";
import { until } from "../../support/until.js";

const isBad = ({ headers }: Event) => headers["fiware-service"] === "bad";

/** A sink with a place for each service, of which that of service `bad` is closed until it is opened. */
class Places implements Sink {
  readonly written: Pick<Batch, "events" | "position">[] = [];
  isClosed = true;
  /** It cannot be asked at all, and says of each failure that its store takes others. */
  isAway = false;
  /** While a place is closed it says that others are taken. */
  blamesPlace = false;
  askedInVain = 0;

  readonly positions = {
    stored: async () => [],
    alreadyStored: async ({ events }: Batch): Promise<readonly Event[]> => {
      if (this.isAway) {
        this.askedInVain += 1;
        throw new AgentError("AWAY", "asking", { retryable: true });
      }
      const named = events.filter(isBad);
      if (this.isClosed && named.length > 0)
        throw new AgentError("CLOSED", "asking", { retryable: true, events: named });
      return [];
    },
  };

  async start(): Promise<void> {}

  async stop(): Promise<void> {}

  async answers(): Promise<StoreAnswer> {
    return (this.isAway || (this.isClosed && this.blamesPlace)) && "passing";
  }

  async persist({ events, position }: Batch) {
    if (this.isClosed && events.some(isBad)) throw new AgentError("CLOSED", "writing", { retryable: true });
    this.written.push({ events, ...(position === undefined ? {} : { position }) });
    return { requestBytes: 1, responseBytes: 1 };
  }

  bodies(service: string): readonly unknown[] {
    const all = this.written.flatMap(({ events }) => events);
    return all.filter(({ headers }) => headers["fiware-service"] === service).map(({ body }) => body);
  }
}

async function put(channel: Pick<Channel, "openPut">, service: string, bodies: readonly unknown[]): Promise<void> {
  const transaction = channel.openPut(bodies.length);
  for (const body of bodies) transaction.put({ headers: { "fiware-service": service }, body });
  await transaction.commit();
}

const numbers = (count: number) => Array.from({ length: count }, (_, at) => at);

/** A feed that takes from a channel which has been opened again since these events were put. */
async function setUp(context: TestContext, bad: number, config: Partial<LogConfig>, interval = 1) {
  const folder = await tempFolder(context);
  const before = await openIn(folder, config);
  await put(before.channel, "bad", numbers(bad));
  await before.channel.stop();
  const { channel } = await openIn(folder, config);
  context.after(() => channel.stop());
  const sink = new Places();
  const { log, lines } = recordingLog();
  const deadLetters = new DeadLetters(await tempFolder(context));
  const retry = { batchTtl: -1, batchRetryIntervals: [interval], untilStored: true };
  const made = feedOf({ channel, sink, log, deadLetters, retry, holdsApart: true });
  context.after(() => made.feed.halt(AbortSignal.abort()));
  made.feed.join();
  made.feed.start();
  return { channel, sink, lines, ...made };
}

async function goodStored(sink: Places, count: number): Promise<void> {
  await until(
    async () => sink.bodies("good"),
    ({ length }) => length === count,
  );
}

async function emptied(channel: Pick<Channel, "size">): Promise<void> {
  await until(
    async () => channel.size,
    (size) => size === 0,
  );
}

const channels = [
  { what: "", config: {} },
  { what: " that hands out services in turn", config: { fair_taking: true } },
  { what: " that has new events in memory", config: { memoryCapacity: 100 } },
] as const;

for (const { what, config } of channels)
  test(`more events than a batch has are held back in a channel${what}, others pass, and all are stored once in their order`, async (context) => {
    const { channel, sink, counters } = await setUp(context, 2500, { ...config, transactionCapacity: 10_000 });
    await put(channel, "good", [1]);
    await goodStored(sink, 1);
    await put(channel, "bad", [2500]);
    await put(channel, "good", [2]);
    await until(
      async () => sink.bodies("good"),
      ({ length }) => length === 2,
    );
    const partial = sink.written.map(({ position }) => position?.partial);
    sink.isClosed = false;
    await emptied(channel);

    assert.deepEqual(partial, [true, true]);
    assert.deepEqual([sink.bodies("good"), sink.bodies("bad")], [[1, 2], numbers(2501)]);
    assert.deepEqual([counters.persisted, counters.deadLettered], [2503, 0]);
  });

for (const { what, blamesPlace } of [
  { what: "although the sink says that it takes others", blamesPlace: true },
  { what: "also where it does not say that it takes others", blamesPlace: false },
])
  test(`new events that fail again and again are held back where the sink names them, ${what}`, async (context) => {
    const { channel, sink, chain, counters } = await setUp(context, 0, {});
    sink.blamesPlace = blamesPlace;
    await put(channel, "bad", numbers(20));
    await put(channel, "good", [1]);
    await goodStored(sink, 1);
    await put(channel, "bad", [20]);
    await put(channel, "good", [2]);
    await goodStored(sink, 2);
    const { failure } = chain.holding ?? {};
    sink.isClosed = false;
    await emptied(channel);

    assert.equal(failure?.code, "CLOSED");
    assert.equal(chain.holding?.failure, undefined);
    assert.deepEqual([sink.bodies("good"), sink.bodies("bad")], [[1, 2], numbers(21)]);
    assert.deepEqual([counters.persisted, counters.deadLettered], [23, 0]);
  });

test("a sink that names events which are not in the batch names none: the batch waits, and is stored afterwards", async (context) => {
  const { channel, sink, counters } = await setUp(context, 20, {});
  const { alreadyStored } = sink.positions;
  sink.positions.alreadyStored = async (batch) => {
    sink.askedInVain += 1;
    return await alreadyStored({ ...batch, events: batch.events.map((event) => ({ ...event })) });
  };
  await until(
    async () => sink.askedInVain,
    (count) => count > 5,
  );
  sink.isClosed = false;
  await emptied(channel);

  assert.deepEqual(sink.bodies("bad"), numbers(20));
  assert.deepEqual([counters.persisted, counters.deadLettered], [20, 0]);
});

test("a sink that names one event at a time holds up no others", async (context) => {
  const { channel, sink, counters } = await setUp(context, 100, {});
  sink.positions.alreadyStored = async ({ events }) => {
    const named = events.filter(isBad).slice(0, 1);
    if (sink.isClosed && named.length > 0) throw new AgentError("CLOSED", "asking", { retryable: true, events: named });
    return [];
  };
  await put(channel, "good", [1]);
  await goodStored(sink, 1);
  sink.isClosed = false;
  await emptied(channel);

  assert.deepEqual(sink.bodies("bad"), numbers(100));
  assert.deepEqual([counters.persisted, counters.deadLettered], [101, 0]);
});

test("what is held back never becomes a dead letter while the sink cannot be asked at all", async (context) => {
  const { channel, sink, counters } = await setUp(context, 2500, { transactionCapacity: 10_000 });
  await put(channel, "good", [1]);
  await goodStored(sink, 1);
  sink.isAway = true;
  await until(
    async () => sink.askedInVain + counters.deadLettered,
    (count) => count > 20,
  );
  sink.isAway = false;
  await put(channel, "good", [2]);
  await goodStored(sink, 2);
  sink.isClosed = false;
  await emptied(channel);

  assert.deepEqual([sink.bodies("good"), sink.bodies("bad")], [[1, 2], numbers(2500)]);
  assert.deepEqual([counters.persisted, counters.deadLettered], [2502, 0]);
});

test("what was held back and is stored while the sink cannot be asked is held back no longer", async (context) => {
  const { channel, sink, chain } = await setUp(context, 2, {});
  await put(channel, "good", [1]);
  await goodStored(sink, 1);
  const { failure } = chain.holding ?? {};
  sink.isAway = true;
  sink.isClosed = false;
  await emptied(channel);

  assert.equal(failure?.code, "CLOSED");
  assert.equal(chain.holding?.failure, undefined);
});

test("large events are held back up to 16 MiB, and new ones beyond that become dead letters", async (context) => {
  const { channel, sink, counters } = await setUp(context, 0, {});
  const large = "x".repeat(1024 * 1024);
  for (let count = 0; count < 20; count += 1) await put(channel, "bad", [large]);
  await put(channel, "good", [1]);
  await goodStored(sink, 1);
  sink.isClosed = false;
  await emptied(channel);

  assert.ok(counters.deadLettered > 0 && counters.deadLettered < 20, `${counters.deadLettered}`);
  assert.equal(counters.persisted + counters.deadLettered, 21);
});

test("a stop ends with what is held back in the channel", async (context) => {
  const { channel, sink, feed } = await setUp(context, 20, {});
  await put(channel, "good", [1]);
  await goodStored(sink, 1);

  await feed.drain(new AbortController().signal);

  assert.equal(channel.size, 20);
});

test("however long the sink is not asked of what is held back, others are stored as they come, and a stop does not wait", async (context) => {
  const { channel, sink, feed } = await setUp(context, 20, {}, 3_600_000);
  for (const number of [1, 2, 3]) {
    await put(channel, "good", [number]);
    await goodStored(sink, number);
  }

  await feed.drain(new AbortController().signal);

  assert.deepEqual([sink.bodies("good"), channel.size], [[1, 2, 3], 20]);
});

test("while another feed takes from the channel nothing is held apart", async (context) => {
  const { channel, sink, outlet } = await setUp(context, 0, {});
  outlet.feeds.add({});
  await put(channel, "bad", [1]);
  await put(channel, "good", [1]);
  await until(
    async () => channel.size,
    (size) => size === 2,
  );
  sink.isClosed = false;
  await emptied(channel);

  assert.ok(sink.written.every(({ position }) => position?.partial !== true));
});
