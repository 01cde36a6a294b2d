import assert from "node:assert/strict";
import { test } from "node:test";
import { ChannelProcessor } from "../../core/pipeline/channel-processor.js";
import { CountedChannel } from "../../core/pipeline/counted-channel.js";
import { QueuePut } from "../../core/sdk/channel/index.js";
import { AgentError, type Channel, codeOf, type Event, retryableOf } from "../../core/sdk/index.js";
import { MemoryChannel } from "../../plugins/memory-channel/memory-channel.js";
import { recordingLog } from "../support/recording-log.js";

const event = (body: unknown, transaction = "t"): Event => ({
  headers: {
    "fiware-service": "s",
    "transaction-id": transaction,
    timestamp: transaction,
    sequence: transaction,
    "notified-at": transaction,
    traceparent: transaction,
    tracestate: transaction,
  },
  body,
});
const events = (...bodies: readonly unknown[]): Event[] => bodies.map((body) => event(body));

interface Limits {
  readonly capacity: number;
  readonly transactionCapacity?: number;
  readonly waitSeconds?: number;
  readonly byteCapacity?: number;
}

function memory(name: string, limits: Limits): MemoryChannel {
  const { capacity, transactionCapacity = capacity, waitSeconds = 0, byteCapacity = 0 } = limits;
  const context = { name, log: recordingLog().log, dataDir: "unused", run: "run", now: () => new Date(0) };
  const config = {
    capacity,
    transactionCapacity,
    byteCapacity,
    byteCapacityBufferPercentage: 0,
    "keep-alive": waitSeconds,
  };
  return new MemoryChannel(config, context);
}

/** A channel over another one that may lack parts of the contract, or whose disk may fail. */
function over(inner: Channel, own: Partial<Channel>): Channel {
  return {
    get size() {
      return inner.size;
    },
    transactionCapacity: inner.transactionCapacity,
    openPut: (count) => inner.openPut(count),
    openTake: () => inner.openTake(),
    start: async () => undefined,
    stop: async () => undefined,
    ...own,
  };
}

/** A stranger's channel: no room is kept, no transaction is larger than transactionCapacity. */
function plain(inner: Channel): Channel {
  const openPut = () => {
    const put = inner.openPut();
    return { put: (one: Event) => put.put(one), commit: () => put.commit(), rollback: () => put.rollback() };
  };
  return over(inner, { openPut });
}

/** A durable channel whose commits fail while the disk does; room is kept as in the channel below. */
function durable(inner: Channel, disk: { fails: boolean }): Channel {
  const queue = (count: number | undefined) => {
    const put = inner.openPut(count);
    const commit = async () => {
      if (!disk.fails) return await put.commit();
      await put.rollback();
      throw new AgentError("CHANNEL_FULL", "writing to disk", { retryable: true });
    };
    return {
      put: (one: Event) => put.put(one),
      reserve: put.reserve?.bind(put),
      commit,
      rollback: () => put.rollback(),
    };
  };
  const openPut = (count?: number) => {
    const { reserve, ...rest } = queue(count);
    return reserve === undefined ? rest : { ...rest, reserve };
  };
  return over(inner, { durable: true, openPut });
}

function agent(channels: Readonly<Record<string, Channel>>, clock = { now: 0 }) {
  const counted = new Map(Object.entries(channels).map(([name, one]) => [name, new CountedChannel(one)]));
  const { log, lines } = recordingLog();
  const selector = { select: () => ({ required: Object.keys(channels), optional: [] }) };
  const made = new ChannelProcessor({ interceptors: [], selector, channels: counted, log, now: () => clock.now });
  return { emit: made.emit, channels: counted, lines };
}

async function content(channel: Channel): Promise<unknown[]> {
  const bodies: unknown[] = [];
  while (channel.size !== 0) {
    const transaction = channel.openTake();
    const taken = await transaction.take(channel.transactionCapacity, AbortSignal.abort());
    bodies.push(...taken.map(({ body }) => body));
    await transaction.commit();
  }
  return bodies;
}

async function refused(code: string, emitted: Promise<void>): Promise<void> {
  await assert.rejects(emitted, (error) => codeOf(error) === code);
}

const orders = [
  { title: "the first", a: 1, b: 10 },
  { title: "the second", a: 10, b: 1 },
] as const;
for (const { title, a, b } of orders)
  test(`of two required channels ${title} is full: neither gets what is refused`, async () => {
    const [one, two] = [memory("a", { capacity: a }), memory("b", { capacity: b })];
    const { emit, channels } = agent({ a: one, b: two });
    await emit(events(1));

    await refused("CHANNEL_FULL", emit(events(2)));

    assert.deepEqual([await content(one), await content(two)], [[1], [1]]);
    const failed = [...channels.values()].map(({ counters }) => counters.putsFailed);
    assert.deepEqual(failed, a === 1 ? [1, 0] : [0, 1]);
  });

test("100 notifications that are repeated until they are accepted are in both channels once", async () => {
  const [fast, slow] = [memory("fast", { capacity: 1000 }), memory("slow", { capacity: 3 })];
  const { emit } = agent({ fast, slow });
  const seen: unknown[] = [];

  for (let body = 0; body < 100; body += 1) {
    const first = await emit(events(body)).catch((error: unknown) => error);
    if (first === undefined) continue;
    await refused("CHANNEL_FULL", emit(events(body)));
    seen.push(...(await content(slow)));
    await emit(events(body));
  }
  seen.push(...(await content(slow)));

  const wanted = Array.from({ length: 100 }, (_, body) => body);
  assert.deepEqual([seen, await content(fast)], [wanted, wanted]);
});

test("while a notification waits for one channel it keeps no room in the other", async () => {
  const [a, b] = [memory("a", { capacity: 1, waitSeconds: 60 }), memory("b", { capacity: 1, waitSeconds: 60 })];
  const both = agent({ a, b });
  await agent({ b }).emit(events("old"));

  const waiting = both.emit(events("both"));
  await agent({ a }).emit(events("only a"));
  const seenB = await content(b);
  const seenA = await content(a);
  await waiting;

  assert.deepEqual([seenA, seenB], [["only a"], ["old"]]);
  assert.deepEqual([await content(a), await content(b)], [["both"], ["both"]]);
});

test("sources that write to the same channels in another order do not wait for each other", async () => {
  const [a, b] = [memory("a", { capacity: 1, waitSeconds: 60 }), memory("b", { capacity: 1, waitSeconds: 60 })];
  const [ab, ba] = [agent({ a, b }), agent({ b, a })];
  const seen: unknown[][] = [[], []];
  const emitted = Array.from({ length: 20 }, (_, at) => (at % 2 === 0 ? ab : ba).emit(events(at)).catch(() => at));

  let open = emitted.length;
  for (const one of emitted) void one.finally(() => (open -= 1));
  while (open > 0) {
    seen[0]?.push(...(await content(a)));
    seen[1]?.push(...(await content(b)));
    await new Promise((resolve) => setImmediate(resolve));
  }
  seen[0]?.push(...(await content(a)));
  seen[1]?.push(...(await content(b)));

  const refusedOnes = await Promise.all(emitted);
  const accepted = Array.from({ length: 20 }, (_, at) => at).filter((at) => !refusedOnes.includes(at));
  assert.deepEqual([seen[0]?.toSorted(), seen[1]?.toSorted()], [accepted.toSorted(), accepted.toSorted()]);
  assert.ok(accepted.length > 0);
});

test("a channel that keeps no room is asked first: when it is full no other gets anything", async () => {
  const [own, stranger] = [memory("own", { capacity: 10 }), memory("stranger", { capacity: 1 })];
  const { emit } = agent({ own, stranger: plain(stranger) });
  await emit(events(1));

  await refused("CHANNEL_FULL", emit(events(2)));

  assert.deepEqual([await content(own), await content(stranger)], [[1], [1]]);
});

test("a disk that fails after another channel committed doubles nothing when the notification is repeated", async () => {
  const disk = { fails: true };
  const [a, b, m] = [memory("a", { capacity: 99 }), memory("b", { capacity: 99 }), memory("m", { capacity: 99 })];
  const { emit, lines } = agent({ m, a: durable(a, { fails: false }), b: durable(b, disk) });

  for (let repeated = 0; repeated < 3; repeated += 1) {
    await refused("CHANNEL_FULL", emit([event(1, `try ${repeated}`), event(2, `try ${repeated}`)]));
  }
  const whileFailing = [a.size, b.size, m.size];
  disk.fails = false;
  await emit([event(1, "last"), event(2, "last")]);
  await emit([event(1, "new"), event(2, "new")]);

  assert.deepEqual(whileFailing, [2, 0, 0]);
  const each = [1, 2, 1, 2];
  assert.deepEqual([await content(a), await content(b), await content(m)], [each, each, each]);
  assert.match(lines.find(({ level }) => level === "warn")?.message ?? "", /refused after these channels had it/);
});

test("while a disk fails, notifications that another channel has are one line of the log and not one each", async () => {
  const [a, b] = [memory("a", { capacity: 99 }), memory("b", { capacity: 99 })];
  const { emit, lines } = agent({ a: durable(a, { fails: false }), b: durable(b, { fails: true }) });

  for (let body = 0; body < 20; body += 1) await refused("CHANNEL_FULL", emit(events(body)));

  assert.deepEqual([a.size, lines.filter(({ level }) => level === "warn").length], [20, 1]);
});

test("of two equal notifications after a failed disk only one counts as the repetition", async () => {
  const disk = { fails: true };
  const [a, b] = [memory("a", { capacity: 99 }), memory("b", { capacity: 99 })];
  const { emit } = agent({ a: durable(a, { fails: false }), b: durable(b, disk) });
  await refused("CHANNEL_FULL", emit(events(1)));
  disk.fails = false;

  await Promise.all([emit(events(1)), emit(events(1))]);

  assert.deepEqual([a.size, b.size], [2, 2]);
});

test("a refused notification is forgotten after ten minutes", async () => {
  const clock = { now: 0 };
  const disk = { fails: true };
  const [a, b] = [memory("a", { capacity: 99 }), memory("b", { capacity: 99 })];
  const { emit } = agent({ a: durable(a, { fails: false }), b: durable(b, disk) }, clock);
  await refused("CHANNEL_FULL", emit(events(1)));
  disk.fails = false;

  clock.now = 600_000;
  await emit(events(1));

  assert.deepEqual([a.size, b.size], [2, 1]);
});

test("a notification larger than transactionCapacity is in the channel as a whole or not at all", async () => {
  const a = memory("a", { capacity: 7, transactionCapacity: 3 });
  const { emit } = agent({ a });
  await emit(events(0));

  await refused("CHANNEL_FULL", emit(events(1, 2, 3, 4, 5, 6, 7)));
  const after = await content(a);
  await emit(events(1, 2, 3, 4, 5, 6, 7));

  assert.deepEqual([after, await content(a)], [[0], [1, 2, 3, 4, 5, 6, 7]]);
});

test("a notification that can never fit is refused for good and in no channel", async () => {
  const [a, b] = [memory("a", { capacity: 99 }), memory("b", { capacity: 2, waitSeconds: 60 })];
  const { emit } = agent({ a, b });

  await assert.rejects(emit(events(1, 2, 3)), (error) => {
    assert.deepEqual([codeOf(error), retryableOf(error)], ["NOTIFICATION_TOO_LARGE", false]);
    return true;
  });

  assert.deepEqual([a.size, b.size], [0, 0]);
});

test("a channel whose transactions keep room but not more than transactionCapacity gets all parts or none", async () => {
  const inner = memory("a", { capacity: 5, transactionCapacity: 2 });
  const parts = over(inner, { openPut: () => inner.openPut() });
  const { emit } = agent({ parts });
  await emit(events(0));

  await refused("CHANNEL_FULL", emit(events(1, 2, 3, 4, 5)));
  const after = await content(inner);
  await emit(events(1, 2, 3, 4, 5));

  assert.deepEqual([after, await content(inner)], [[0], [1, 2, 3, 4, 5]]);
});

test("a channel over a queue that keeps no room says so", async () => {
  const queue = {
    add: async () => undefined,
    take: async () => [],
    release: async () => undefined,
    restore: () => undefined,
  };
  const put = new QueuePut(queue, { channel: "c", most: 1 });
  put.put(event(1));

  assert.equal(await put.reserve("wait"), false);
});
