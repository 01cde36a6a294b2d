import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { CountedChannel } from "../../../core/pipeline/counted-channel.js";
import { DeadLetters } from "../../../core/pipeline/dead-letters/dead-letters.js";
import { ChannelOutlet } from "../../../core/pipeline/delivery/channel-outlet.js";
import { AgentError, type Batch, type Channel, type Event, type Receipt, type Sink } from "../../../core/sdk/index.js";
import { MemoryChannel } from "../../../plugins/memory-channel/memory-channel.js";
import { channelIn } from "../../plugins/file-channel/channel-folder.js";
import { feedOf, put } from "../../support/delivering.js";
import { recordingLog } from "../../support/recording-log.js";
import { ScriptedSink } from "../../support/scripted-sink.js";
import { tempFolder } from "../../support/temp-folder.js";
import { until } from "../../support/until.js";

const patience = () => AbortSignal.timeout(10_000);
const good = (body: unknown): Event => ({ headers: {}, body });

/** A channel that returns what a plugin put into it, whatever that is. */
async function setUp(context: TestContext, returned: readonly unknown[], sink: Sink) {
  const dataDir = await tempFolder(context);
  const { log } = recordingLog();
  const config = { capacity: 100, transactionCapacity: 100, "keep-alive": 0 };
  const memory = new MemoryChannel(config, { name: "c", log, dataDir, run: "run", now: () => new Date(0) });
  const openTake = memory.openTake.bind(memory);
  const channel: Channel = Object.assign(memory, {
    openTake: () => {
      const transaction = openTake();
      const take = transaction.take.bind(transaction);
      const takeThem = async (max: number, signal: AbortSignal) =>
        (await take(max, signal)).map(({ body }) => returned[Number(body)]);
      return Object.assign(transaction, { take: takeThem });
    },
  });
  const deadLetters = new DeadLetters(dataDir);
  const settled: object[] = [];
  const account = { settled: (counts: object) => settled.push(counts) };
  const retry = { batchTtl: -1, batchRetryIntervals: [1] };
  const { feed } = feedOf({ channel, sink, deadLetters, log, retry, more: { account } });
  await put(channel, ...returned.keys());
  const letters = async () => {
    const kept = [];
    for await (const { event, code } of deadLetters.open()) kept.push([code, event.body]);
    return kept;
  };
  return { feed, channel, letters, settled };
}

const oddities = [
  { what: "null", value: null, body: "null" },
  { what: "a text", value: "text", body: "'text'" },
  { what: "a promise", value: Promise.resolve(1), body: "Promise { 1 }" },
  { what: "an object without headers", value: { body: 1 }, body: "{ body: 1 }" },
  { what: "an event whose headers are null", value: { headers: null, body: 1 }, body: "{ headers: null, body: 1 }" },
] as const;

for (const { what, value, body } of oddities)
  test(`${what} as the first of a batch becomes a dead letter, too`, async (context) => {
    const sink = new ScriptedSink();
    const { feed, channel, letters } = await setUp(context, [value, good("b")], sink);

    feed.start();
    await feed.drain(patience());

    assert.deepEqual(sink.stored, [good("b")]);
    assert.equal(channel.size, 0);
    assert.deepEqual(await letters(), [["NOT_AN_EVENT", body]]);
  });

for (const { what, value, body } of oddities)
  test(`${what} instead of an event becomes a dead letter, and what is around it is stored`, async (context) => {
    const sink = new ScriptedSink();
    const { feed, channel, letters, settled } = await setUp(context, [good("a"), value, good("b")], sink);

    feed.start();
    await feed.drain(patience());

    assert.deepEqual(
      sink.stored.map((event) => event.body),
      ["a", "b"],
    );
    assert.equal(channel.size, 0);
    assert.deepEqual(await letters(), [["NOT_AN_EVENT", body]]);
    assert.deepEqual(settled, [{ stored: 2, "dead-lettered": 1, filtered: 0 }]);
  });

const brokenTakes = [
  {
    breaks: "returns a text",
    take: async () => "x",
    reason: /take of the channel returned a string in place of a list/,
  },
  { breaks: "returns nothing", take: async () => undefined, reason: /returned undefined in place of a list of events/ },
  { breaks: "throws", take: async () => assert.fail("no connection"), reason: /^no connection$/ },
];
for (const { breaks, take, reason } of brokenTakes)
  test(`a take that ${breaks} is logged with its channel, also when the rollback throws`, async (context) => {
    const dataDir = await tempFolder(context);
    const { log, lines } = recordingLog();
    const config = { capacity: 100, transactionCapacity: 100, "keep-alive": 0 };
    const memory = new MemoryChannel(config, { name: "c", log, dataDir, run: "run", now: () => new Date(0) });
    const rollback = async () => assert.fail("not taken back");
    const openTake = () => ({ take, rollback, commit: async () => {} });
    Reflect.set(memory, "openTake", openTake);
    const outlet = new ChannelOutlet(new CountedChannel(memory), { title: '"c" of type "odd"' });
    const deadLetters = new DeadLetters(dataDir);
    const { feed } = feedOf({ channel: memory, outlet, sink: new ScriptedSink(), deadLetters, log });

    feed.start();
    await until(
      async () => lines.map(({ message }) => message),
      (said) => said.includes("channel failed, going on"),
    );
    await feed.halt(patience());

    const [back, failed] = lines;
    assert.deepEqual(
      [back?.fields, back?.message],
      [{ channel: '"c" of type "odd"', reason: "not taken back" }, "channel did not take a batch back"],
    );
    assert.equal(Reflect.get(failed?.fields ?? {}, "channel"), '"c" of type "odd"');
    assert.match(String(Reflect.get(failed?.fields ?? {}, "reason")), reason);
  });

test("a channel whose takes fail in the same way is logged once until it works again", async (context) => {
  const { log, lines } = recordingLog();
  const dataDir = await tempFolder(context);
  const config = { capacity: 100, transactionCapacity: 100, "keep-alive": 0 };
  const memory = new MemoryChannel(config, { name: "c", log, dataDir, run: "run", now: () => new Date(0) });
  const working = memory.openTake.bind(memory);
  let opened = 0;
  const broken = { take: async () => [], rollback: async () => assert.fail("not taken back"), commit: async () => {} };
  Reflect.set(memory, "openTake", () => {
    opened += 1;
    return opened <= 2 ? broken : working();
  });
  const outlet = new ChannelOutlet(new CountedChannel(memory), { title: '"c" of type "odd"' });
  const { feed } = feedOf({
    channel: memory,
    outlet,
    sink: new ScriptedSink(),
    deadLetters: new DeadLetters(dataDir),
    log,
  });

  feed.start();
  await until(
    async () => opened,
    (times) => times > 2,
  );
  await feed.halt(patience());

  const said = lines.map(({ message }) => message).filter((message) => message === "channel did not take a batch back");
  assert.equal(said.length, 1);
});

for (const [call, make] of [
  ["openPut", (channel: CountedChannel) => channel.openPut()],
  ["openPut", (channel: CountedChannel) => channel.openOptionalPut(1)],
  ["openTake", (channel: CountedChannel) => channel.openTake()],
] as const)
  for (const returned of [undefined, null, "a text"])
    test(`${call} of a channel that returns ${returned} fails with its name (${make})`, () => {
      const memory = new MemoryChannel(
        { capacity: 1, transactionCapacity: 1, "keep-alive": 0 },
        { name: "c", log: recordingLog().log, dataDir: "", run: "run", now: () => new Date(0) },
      );
      Reflect.set(memory, call, () => returned);
      const channel = new CountedChannel(memory, { title: 'channel "c" of type "odd"' });

      const message = `${call} of channel "c" of type "odd" returned ${returned} in place of a transaction; its plugin must be corrected`;
      assert.throws(() => make(channel), { code: "TRANSACTION_MALFORMED", message });
    });

test("what is no event blocks a file channel neither before nor after a restart", async (context) => {
  const dataDir = await tempFolder(context);
  const { log } = recordingLog();
  const deadLetters = new DeadLetters(dataDir);
  const first = channelIn(dataDir).channel;
  await first.start();
  const transaction = first.openPut();
  const anything: { put(value: unknown): void } = transaction;
  for (const value of [good("a"), null, "text", { body: 1 }, good("b")]) anything.put(value);
  await transaction.commit();
  await first.stop();
  const sink = new ScriptedSink();
  const { channel } = channelIn(dataDir);
  await channel.start();
  context.after(() => channel.stop());
  const { feed } = feedOf({ channel, sink, deadLetters, log });

  feed.start();
  await feed.drain(patience());

  assert.deepEqual(
    sink.stored.map((event) => event.body),
    ["a", "b"],
  );
  assert.equal(channel.size, 0);
});

const circular: Record<string, unknown> = {};
circular["self"] = circular;
const unwritable = [
  { what: "a number that JSON does not know", event: good(10n), body: "{ headers: {}, body: 10n }" },
  { what: "itself", event: good(circular), body: /Circular/ },
  { what: "nothing", event: { headers: {}, body: undefined }, body: "{ headers: {}, body: undefined }" },
] as const;

for (const { what, event, body } of unwritable)
  test(`an event whose body holds ${what} is described in its dead letter when its sink refuses it`, async (context) => {
    const sink = new ScriptedSink(() => new AgentError("POISON", "storing it", { retryable: false }));
    const { feed, channel, letters } = await setUp(context, [event], sink);

    feed.start();
    await feed.drain(patience());

    const [letter] = await letters();
    assert.equal(channel.size, 0);
    assert.equal(letter?.[0], "POISON");
    if (typeof body === "string") assert.equal(letter?.[1], body);
    else assert.match(String(letter?.[1]), body);
  });

test("a sink that takes events out of its batch fails, and no event is lost", async (context) => {
  class Greedy extends ScriptedSink {
    override async persist(batch: Batch): Promise<Receipt> {
      if (this.writes.length === 0) {
        this.writes.push([]);
        Reflect.get(batch.events, "splice").call(batch.events, 0, 1);
      }
      return await super.persist(batch);
    }
  }
  const sink = new Greedy();
  const { feed, channel, letters } = await setUp(context, [good("a"), good("b")], sink);

  feed.start();
  await feed.drain(patience());

  assert.deepEqual(
    sink.stored.map((event) => event.body),
    ["a", "b"],
  );
  assert.deepEqual([channel.size, await letters()], [0, []]);
});
