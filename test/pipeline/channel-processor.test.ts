import assert from "node:assert/strict";
import { test } from "node:test";
import { ChannelProcessor } from "../../core/pipeline/channel-processor.js";
import { CountedChannel } from "../../core/pipeline/counted-channel.js";
import { atOnce } from "../../core/sdk/at-once.js";
import { type Channel, codeOf, type Event, type Interceptor, type Selection } from "../../core/sdk/index.js";
import { MemoryChannel } from "../../plugins/memory-channel/memory-channel.js";
import { recordingLog } from "../support/recording-log.js";

const events = (...bodies: readonly number[]): Event[] => bodies.map((body) => ({ headers: {}, body }));

function channel(name: string, capacity: number, transactionCapacity = capacity, waitSeconds = 0): CountedChannel {
  return new CountedChannel(memory(name, capacity, transactionCapacity, waitSeconds));
}

function memory(name: string, capacity: number, transactionCapacity = capacity, waitSeconds = 0): MemoryChannel {
  const { log } = recordingLog();
  const context = { name, log, dataDir: "unused", run: "run", now: () => new Date(0) };
  return new MemoryChannel({ capacity, transactionCapacity, "keep-alive": waitSeconds }, context);
}

const empty: Channel = {
  transactionCapacity: 10,
  size: 0,
  start: async () => {},
  stop: async () => {},
  openPut: () => assert.fail("not put into"),
  openTake: () => assert.fail("not taken from"),
};

/** Takes out what is there, by as many transactions as it needs. */
async function content(of: CountedChannel): Promise<unknown[]> {
  const bodies: unknown[] = [];
  while (of.size !== 0) {
    const transaction = of.openTake();
    const taken = await transaction.take(of.transactionCapacity, AbortSignal.abort());
    bodies.push(...taken.map(({ body }) => body));
    await transaction.commit();
  }
  return bodies;
}

function processor(
  channels: Readonly<Record<string, CountedChannel>>,
  selection: Selection,
  interceptors: readonly Interceptor[] = [],
  select: (event: Event) => unknown = () => selection,
  now: () => number = () => 0,
) {
  const { log, lines } = recordingLog();
  const selector = { select: () => selection };
  Reflect.set(selector, "select", select);
  const made = new ChannelProcessor({
    interceptors: interceptors.map((interceptor, at) => ({ interceptor, title: `"i${at + 1}"` })),
    selector,
    channels: new Map(Object.entries(channels)),
    log,
    now,
  });
  return { made, lines };
}

test("a notification goes whole into every required channel", async () => {
  const [a, b] = [channel("a", 10), channel("b", 10)];
  const { made } = processor({ a, b }, { required: ["a", "b"], optional: [] });

  await made.emit(events(1, 2));

  assert.deepEqual(
    [await content(a), await content(b)],
    [
      [1, 2],
      [1, 2],
    ],
  );
  assert.deepEqual({ ...made.counters }, { received: 1, processed: 1, unrouted: 0 });
  assert.equal(a.counters.putsOk, 2);
});

test("a channel that a selector names again gets each event once, the same event of a source twice", async () => {
  const [a, b] = [channel("a", 10), channel("b", 10)];
  const { made } = processor({ a, b }, { required: ["a", "a"], optional: ["b", "a", "b"] });
  const [one] = events(1);
  assert.ok(one);

  await made.emit([one, one]);

  assert.deepEqual(
    [await content(a), await content(b)],
    [
      [1, 1],
      [1, 1],
    ],
  );
});

test("a notification that its only channel has already is put at once", async () => {
  const a = channel("a", 10);
  const { made } = processor({ a }, { required: ["a"], optional: [] });

  const putting = made.emit(events(1, 2));

  assert.equal(putting, atOnce);
  assert.deepEqual({ ...made.counters }, { received: 1, processed: 1, unrouted: 0 });
  assert.equal(a.counters.putsOk, 2);
  assert.deepEqual(await content(a), [1, 2]);
});

test("a notification that waits for room in its only channel is not put at once", async () => {
  const a = channel("a", 1, 1, 10);
  const { made } = processor({ a }, { required: ["a"], optional: [] });
  await made.emit(events(1));

  const putting = made.emit(events(2));
  const before = { ...made.counters };
  const taken = await content(a);
  await putting;

  assert.notEqual(putting, atOnce);
  assert.deepEqual(before, { received: 2, processed: 1, unrouted: 0 });
  assert.deepEqual([...taken, ...(await content(a))], [1, 2]);
  assert.equal(made.counters.processed, 2);
});

for (const [how, commit] of [
  ["throws", () => Promise.reject(new Error("unreachable"))],
  ["throws before it returns a promise", () => assert.fail("the disk is gone")],
] as const)
  test(`a put whose commit ${how} is refused and counted as failed`, async () => {
    const broken: Channel = { ...empty, openPut: () => ({ put: () => {}, commit, rollback: async () => {} }) };
    const a = new CountedChannel(broken);
    const { made } = processor({ a }, { required: ["a"], optional: [] });

    await assert.rejects(made.emit(events(1)));

    assert.equal(a.counters.putsFailed, 1);
    assert.equal(a.counters.putsOk, 0);
    assert.notEqual(a.puts.failure, undefined);
  });

test("a full required channel refuses the notification, which then counts as received only", async () => {
  const a = channel("a", 1);
  const { made } = processor({ a }, { required: ["a"], optional: [] });

  await assert.rejects(
    made.emit(events(1, 2).slice(0, 1)).then(() => made.emit(events(3))),
    (error) => codeOf(error) === "CHANNEL_FULL",
  );

  assert.deepEqual({ ...made.counters }, { received: 2, processed: 1, unrouted: 0 });
  assert.equal(a.counters.putsFailed, 1);
  assert.deepEqual(await content(a), [1]);
});

test("a full optional channel is only logged", async () => {
  const [a, b] = [channel("a", 10), channel("b", 1)];
  const { made, lines } = processor({ a, b }, { required: ["a"], optional: ["b"] });

  await made.emit(events(1));
  await made.emit(events(2));

  assert.deepEqual([await content(a), await content(b)], [[1, 2], [1]]);
  assert.deepEqual(
    lines.map(({ level }) => level),
    ["debug", "warn", "debug"],
  );
});

test("each event that goes without a full optional channel is a failed put of it, waited for or not", async () => {
  const [a, b] = [channel("a", 10), channel("b", 1)];
  const { made } = processor({ a, b }, { required: ["a"], optional: ["b"] });

  await made.emit(events(1));
  for (const value of [2, 3, 4]) await made.emit(events(value));

  assert.deepEqual([b.counters.putsOk, b.counters.putsFailed], [1, 3]);
  assert.deepEqual([a.counters.putsOk, a.counters.putsFailed], [4, 0]);
});

test("a full optional channel fails as one that events go without, waited for or not, until it takes one again", async () => {
  let time = new Date(0);
  const [a, b] = [channel("a", 10), new CountedChannel(memory("b", 1), { now: () => time })];
  const { made } = processor({ a, b }, { required: ["a"], optional: ["b"] });
  await made.emit(events(1));

  await made.emit(events(2));
  time = new Date(5000);
  await made.emit(events(3));
  const { optionalPuts, puts } = b;
  const { since, last } = optionalPuts.failure ?? {};
  const take = b.openTake();
  await take.take(1, new AbortController().signal);
  await take.commit();
  await made.emit(events(4));

  assert.deepEqual([since, last, puts.failure], [new Date(0), new Date(5000), undefined]);
  assert.equal(optionalPuts.failure, undefined);
});

test("a full optional channel is waited for once, and again when it was left out ten seconds ago", async () => {
  const [a, full, fuller] = [channel("a", 10), channel("b", 1), channel("c", 1)];
  const waits: string[] = [];
  for (const one of [full, fuller]) {
    const openOptionalPut = one.openOptionalPut.bind(one);
    one.openOptionalPut = (count) => {
      const transaction = openOptionalPut(count);
      const keep = transaction.reserve?.bind(transaction) ?? assert.fail("keeps room");
      const commit = transaction.commit.bind(transaction);
      let isKept = false;
      transaction.reserve = async (waiting) => {
        isKept = await keep(waiting);
        return isKept;
      };
      transaction.commit = async () => {
        if (!isKept) waits.push("waited");
        await commit();
      };
      return transaction;
    };
  }
  let now = 0;
  const { made } = processor(
    { a, b: full, c: fuller },
    { required: ["a"], optional: ["b", "c"] },
    [],
    undefined,
    () => now,
  );
  const emitted = async (body: number, at: number) => {
    now = at;
    await made.emit(events(body));
    return waits.splice(0).length;
  };

  const waited = [
    await emitted(1, 0),
    await emitted(2, 1000),
    await emitted(3, 2000),
    await emitted(4, 11_999),
    await emitted(5, 21_998),
    await emitted(6, 31_998),
  ];
  const [seen, kept] = [await content(full), await content(fuller)];
  const later = await emitted(7, 31_999);

  // A put into one channel waits for room when it commits without having kept some.
  assert.deepEqual(waited, [2, 2, 0, 0, 0, 2]);
  assert.deepEqual([seen, kept, later], [[1], [1], 0]);
  assert.deepEqual([await content(full), await content(a)], [[7], [1, 2, 3, 4, 5, 6, 7]]);
});

test("a notification with more entities than transactionCapacity goes in by several transactions", async () => {
  const a = channel("a", 10, 3);
  const { made } = processor({ a }, { required: ["a"], optional: [] });

  await made.emit(events(1, 2, 3, 4, 5, 6, 7));

  assert.deepEqual(await content(a), [1, 2, 3, 4, 5, 6, 7]);
});

test("interceptors run in order and may drop an event", async () => {
  const a = channel("a", 10);
  const add = (text: string): Interceptor => ({ intercept: (event) => ({ ...event, body: `${event.body}${text}` }) });
  const dropTwo: Interceptor = { intercept: (event) => (event.body === "2x" ? undefined : event) };
  const { made } = processor({ a }, { required: ["a"], optional: [] }, [add("x"), dropTwo, add("y")]);

  await made.emit(events(1, 2, 3));

  assert.deepEqual(await content(a), ["1xy", "3xy"]);
});

test("an event for which no channel is chosen is logged at level warn", async () => {
  const { made, lines } = processor({}, { required: [], optional: [] });

  await made.emit(events(1, 2));

  const [warning] = lines.filter(({ level }) => level === "warn");
  const fields = { events: 2, total: 2, count: 1 };
  assert.deepEqual(warning, { level: "warn", fields, message: "events dropped: no channel chosen" });
});

test("events without a channel are counted, and make one line a minute, however many they are", async () => {
  let observed = 0;
  const { log, lines } = recordingLog();
  const made = new ChannelProcessor({
    interceptors: [],
    selector: { select: () => ({ required: [], optional: [] }) },
    channels: new Map(),
    log,
    unrouted: (count) => {
      observed += count;
    },
    now: () => 0,
  });

  for (let sent = 0; sent < 500; sent += 1) await made.emit(events(1, 2));
  const warnings = () => lines.filter(({ level }) => level === "warn").map(({ fields }) => fields);
  assert.deepEqual(warnings(), [{ events: 2, total: 2, count: 1 }]);
  made.stop();

  assert.deepEqual(warnings().slice(1), [{ events: 2, total: 1000, count: 499 }]);
  assert.deepEqual([observed, made.counters.unrouted], [1000, 1000]);
});

test("a notification without entities is received and processed", async () => {
  const a = channel("a", 10);
  const { made } = processor({ a }, { required: ["a"], optional: [] });

  await made.emit([]);

  assert.deepEqual({ ...made.counters }, { received: 1, processed: 1, unrouted: 0 });
});

for (const isEnabled of [true, false]) {
  test(`a log that says its level is ${isEnabled ? "given" : "not given"} a line for each notification`, async () => {
    const { log, lines } = recordingLog();
    const made = new ChannelProcessor({
      interceptors: [],
      selector: { select: () => ({ required: ["a"], optional: [] }) },
      channels: new Map([["a", channel("a", 10)]]),
      log: { ...log, isLevelEnabled: () => isEnabled },
    });

    await made.emit(events(1));

    assert.equal(lines.length, isEnabled ? 1 : 0);
  });
}

test("after the stop of its source nothing is put into a channel any more", async () => {
  const a = channel("a", 10);
  const { made } = processor({ a }, { required: ["a"], optional: [] });
  made.stop();

  await assert.rejects(made.emit(events(1)), (error: Error) => {
    assert.equal(codeOf(error), "SOURCE_STOPPED");
    assert.match(error.message, /which has stopped; its plugin must end every loop in stop$/);
    return true;
  });
  assert.equal(a.size, 0);
});

const malformed = [
  { emitted: "x", is: "a string in place of a list of events" },
  { emitted: { headers: {}, body: 1 }, is: "an object in place of a list of events" },
  { emitted: Promise.resolve([]), is: "a promise in place of a list of events" },
  { emitted: [{ body: 1 }], is: "an object without headers in place of an event" },
  { emitted: [{ headers: { a: 1 }, body: 1 }], is: 'an event with a number as header ("a") in place of an event' },
  { emitted: [...events(1), { headers: {}, body: { at: new Date(0) } }], is: 'in its body ("at")' },
];
for (const { emitted, is } of malformed)
  test(`a source that emits ${is} is named, and nothing of it is put`, async () => {
    const a = channel("a", 10);
    const { log, lines } = recordingLog();
    const made = new ChannelProcessor({
      interceptors: [],
      sourceTitle: '"ticks" of type "ticker"',
      selector: { select: () => ({ required: ["a"], optional: [] }) },
      channels: new Map([["a", a]]),
      log,
    });

    const emitting = Reflect.apply(made.emitChecked, undefined, [emitted]);

    await assert.rejects(emitting, (error: Error) => {
      assert.equal(codeOf(error), "EVENT_MALFORMED");
      assert.ok(error.message.startsWith('source "ticks" of type "ticker" emitted '), error.message);
      assert.ok(error.message.includes(is), error.message);
      return true;
    });
    assert.equal(a.size, 0);
    assert.deepEqual(
      lines.map(({ level, message }) => [level, message]),
      [["error", "refused what a source emitted: no events"]],
    );
  });

test("a selector that returns nothing is named with what it must return", async () => {
  const selection: Selection = { required: ["a"], optional: [] };
  const { made } = processor({ a: channel("a", 10) }, selection, [], () => undefined);

  await assert.rejects(made.emit(events(1)), {
    code: "SELECTOR_FAILED",
    message: 'selector "without a name" returned no lists "required" and "optional"; its plugin must be corrected',
  });
});

test("a selector that chooses an unknown channel is named with the source and the remedy", async () => {
  const { made } = processor({ a: channel("a", 10) }, { required: ["b"], optional: [] });

  await assert.rejects(made.emit(events(1)), (error: Error) => {
    assert.equal(codeOf(error), "SELECTOR_FAILED");
    assert.match(error.message, /^selector "without a name" chose the channel "b" .*source .* which has "a"; correct/);
    return true;
  });
});
