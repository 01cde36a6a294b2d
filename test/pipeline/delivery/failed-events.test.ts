import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { DeadLetters } from "../../../core/pipeline/dead-letters/dead-letters.js";
import type { RetryPolicy } from "../../../core/pipeline/delivery/retry-policy.js";
import {
  AgentError,
  type Batch,
  type Event,
  type FailedEvents,
  type Receipt,
  type Sink,
} from "../../../core/sdk/index.js";
import { channelIn } from "../../plugins/file-channel/channel-folder.js";
import { chainTo, deliver, feedOf, put } from "../../support/delivering.js";
import { at } from "../../support/position.js";
import { recordingLog } from "../../support/recording-log.js";
import { tempFolder } from "../../support/temp-folder.js";
import { until } from "../../support/until.js";

const eventsOf = (names: string): Event[] => [...names].map((body) => ({ headers: {}, body }));
const textOf = (events: readonly Event[]) => events.map(({ body }) => body).join("");
const isOneOf = (names: string) => (event: Event) => names.includes(String(event.body));
const unroutable = (event: Event) => new AgentError("NO_ROUTE", `no queue takes ${event.body}`, { retryable: false });
const busy = (event: Event) => new AgentError("BUSY", `the queue of ${event.body} is busy`, { retryable: true });

/** A broker: it keeps each event that `judge` has no error for, and says which ones it did not keep. */
class Broker implements Sink {
  readonly writes: string[] = [];
  readonly kept: Event[] = [];
  readonly #judge: (event: Event, write: number) => Error | undefined;
  readonly #names: (failed: ReadonlyMap<Event, Error>) => FailedEvents | undefined;

  constructor(
    judge: (event: Event, write: number) => Error | undefined,
    names: (failed: ReadonlyMap<Event, Error>) => FailedEvents | undefined = (failed) => failed,
  ) {
    this.#judge = judge;
    this.#names = names;
  }

  async start(): Promise<void> {}

  async stop(): Promise<void> {}

  async persist({ events }: Batch): Promise<Receipt> {
    this.writes.push(textOf(events));
    const failed = new Map<Event, Error>();
    for (const event of events) {
      const error = this.#judge(event, this.writes.length);
      if (error === undefined) this.kept.push(event);
      else failed.set(event, error);
    }
    if (failed.size === 0) return { requestBytes: 0, responseBytes: 0 };
    const message = `publishing ${events.length} events: ${failed.size} failed`;
    throw new AgentError("NOT_ALL", message, { retryable: false, events: this.#names(failed) });
  }
}

async function setUp(context: TestContext, sink: Sink, retry: Partial<RetryPolicy> = {}) {
  const deadLetters = new DeadLetters(await tempFolder(context));
  const { log, lines } = recordingLog();
  const made = chainTo({ sink, deadLetters, log, retry: { batchTtl: 3, batchRetryIntervals: [1], ...retry } });
  return { ...made, lines, letters: () => lettersIn(deadLetters) };
}

async function lettersIn(deadLetters: DeadLetters): Promise<readonly string[]> {
  const kept: string[] = [];
  for await (const { event, reason, code, message } of deadLetters.open()) {
    kept.push(`${event.body} ${reason} ${code} ${message}`);
  }
  return kept;
}

test("of 20 events with one that no queue takes, 19 are published once and one is a dead letter", async (context) => {
  const names = "abcdefghijklmnopqrst";
  const broker = new Broker((event) => (event.body === "g" ? unroutable(event) : undefined));
  const { chain, counters, letters } = await setUp(context, broker);

  const settled = await deliver(chain, eventsOf(names));

  assert.equal(settled, true);
  assert.deepEqual(broker.writes, [names]);
  assert.deepEqual(await letters(), ["g permanent NO_ROUTE no queue takes g"]);
  assert.deepEqual([counters.persisted, counters.deadLettered], [19, 1]);
});

test("without an error of each the dead letters have that of the batch", async (context) => {
  const broker = new Broker(
    (event) => (isOneOf("bc")(event) ? unroutable(event) : undefined),
    (failed) => [...failed.keys()],
  );
  const { chain, letters } = await setUp(context, broker);

  await deliver(chain, eventsOf("abcd"));

  const reason = "permanent NOT_ALL publishing 4 events: 2 failed";
  assert.deepEqual([broker.writes, await letters()], [["abcd"], [`b ${reason}`, `c ${reason}`]]);
});

test("the line about dead letters has their own reason, not that of events of the batch that are tried again", async (context) => {
  const broker = new Broker((event, write) => {
    if (event.body === "x") return unroutable(event);
    return event.body === "b" && write < 3 ? busy(event) : undefined;
  });
  const { chain, lines } = await setUp(context, broker);

  await deliver(chain, eventsOf("abxd"));

  const kept = lines.filter(({ message }) => message === "events kept as dead letters");
  assert.deepEqual(
    kept.map(({ fields }) => Reflect.get(fields, "reason")),
    ["no queue takes x"],
  );
});

test("an event that may pass is written again alone, one that never will is kept at once", async (context) => {
  const broker = new Broker((event, write) => {
    if (event.body === "x") return unroutable(event);
    return event.body === "b" && write < 3 ? busy(event) : undefined;
  });
  const { chain, counters, letters } = await setUp(context, broker);

  await deliver(chain, eventsOf("abxd"));

  assert.deepEqual(broker.writes, ["abxd", "b", "b"]);
  assert.deepEqual([textOf(broker.kept), counters.persisted], ["adb", 3]);
  assert.deepEqual(await letters(), ["x permanent NO_ROUTE no queue takes x"]);
});

test("events whose retries are used up are kept with the reason of each", async (context) => {
  const broker = new Broker((event) => (isOneOf("bd")(event) ? busy(event) : undefined));
  const { chain, letters } = await setUp(context, broker, { batchTtl: 1 });

  await deliver(chain, eventsOf("abcd"));

  assert.deepEqual(broker.writes, ["abcd", "bd"]);
  assert.deepEqual(await letters(), [
    "b retries-exhausted BUSY the queue of b is busy",
    "d retries-exhausted BUSY the queue of d is busy",
  ]);
});

test("named events whose error does not say whether it may pass are kept when their retries are used up", async (context) => {
  const broker = new Broker(
    (event) => (isOneOf("bd")(event) ? new Error(`odd ${event.body}`) : undefined),
    (failed) => failed,
  );
  const sink: Sink = {
    start: async () => {},
    stop: async () => {},
    persist: async (batch) => {
      const answer = await broker.persist(batch).catch((error: unknown) => error);
      throw Object.assign(new Error("odd"), { events: Reflect.get(Object(answer), "events") });
    },
  };
  const { chain, letters } = await setUp(context, sink, { batchTtl: 1 });

  await deliver(chain, eventsOf("abcd"));

  assert.equal(textOf(broker.kept), "ac");
  assert.deepEqual(await letters(), ["b retries-exhausted undefined odd b", "d retries-exhausted undefined odd d"]);
});

interface WrongNames {
  readonly what: string;
  readonly names: (failed: ReadonlyMap<Event, Error>) => FailedEvents;
  readonly says: RegExp;
}

const faults: readonly WrongNames[] = [
  { what: "is empty", names: () => [], says: /it names none; leave `events` out/ },
  {
    what: "holds copies",
    names: (failed) => [...failed.keys()].map((event) => ({ ...event })),
    says: /1 of the 1 it names are not in the batch; name the objects of the batch, not copies/,
  },
  { what: "is a text", names: () => JSON.parse('"x"'), says: /they are no list and no Map/ },
];

for (const { what, names, says } of faults)
  test(`when the list of failed events ${what}, the whole batch counts as failed and is split`, async (context) => {
    const broker = new Broker((event) => (event.body === "x" ? unroutable(event) : undefined), names);
    const { chain, counters, letters } = await setUp(context, broker);

    await deliver(chain, eventsOf("abxd"));

    const [letter = ""] = await letters();
    assert.match(letter, /^x permanent FAILED_EVENTS_INVALID reading which events of a batch failed: /);
    assert.match(letter, says);
    assert.match(letter, /the whole batch counts as failed: publishing 1 events: 1 failed$/);
    assert.equal(counters.persisted, 3);
  });

/** Stores all or nothing, with a position. */
class Transactional extends Broker {
  readonly positions = { stored: async () => [] };
}

test("a sink that stores positions may not name a part of its batch: the rest counts as failed", async (context) => {
  const sink = new Transactional((event) => (event.body === "x" ? unroutable(event) : undefined));
  const { chain, letters } = await setUp(context, sink);

  await deliver(chain, eventsOf("abxd"), { from: { positions: { after: String, coveredBy: () => [], idOf: String } } });

  assert.deepEqual(sink.writes, ["abxd", "ab", "xd", "x", "d"]);
  const [letter = ""] = await letters();
  assert.match(letter, /^x permanent NO_ROUTE/);
});

test("a sink that stores positions may name all events, with a reason for each", async (context) => {
  const stored: string[] = [];
  const sink: Sink = {
    start: async () => {},
    stop: async () => {},
    positions: { stored: async () => [] },
    persist: async ({ events, position }) => {
      if (events.some(isOneOf("x"))) {
        const reasons = events.map((event) => [event, event.body === "x" ? unroutable(event) : undefined] as const);
        throw new AgentError("ROLLED_BACK", "storing", { retryable: true, events: new Map(reasons) });
      }
      stored.push(`${textOf(events)} ${position?.text}`);
      return { requestBytes: 0, responseBytes: 0 };
    },
  };
  const { chain, letters, lines } = await setUp(context, sink);

  await deliver(chain, eventsOf("abxd"), {
    from: { positions: { after: (count) => `c:${count}`, coveredBy: at("c:0").coveredBy, idOf: String } },
  });

  assert.deepEqual(stored, ["abd c:4"]);
  assert.deepEqual(await letters(), ["x permanent NO_ROUTE no queue takes x"]);
  // Those that are left do not wait for their next try.
  assert.doesNotMatch(JSON.stringify(lines), /will be retried/);
});

test("a write that is late and then tells what failed is not repeated for the others", async (context) => {
  const writes: string[] = [];
  const sink: Sink = {
    start: async () => {},
    stop: async () => {},
    persist: async ({ events }, signal) => {
      writes.push(textOf(events));
      if (writes.length > 1) return { requestBytes: 0, responseBytes: 0 };
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      throw new AgentError("ABORTED", "publishing", { retryable: true, events: events.slice(2) });
    },
  };
  const deadLetters = new DeadLetters(await tempFolder(context));
  const { log } = recordingLog();
  const { chain } = chainTo({ sink, deadLetters, log, persistTimeout: 0.01 });

  const settled = await deliver(chain, eventsOf("abcd"));

  assert.deepEqual([settled, writes], [true, ["abcd", "c", "d"]]);
});

test("an event that is erased after it was named is not written again, and is no dead letter", async (context) => {
  const deadLetters = new DeadLetters(await tempFolder(context));
  const erased: Event[] = [];
  const broker = new Broker((event, write) => {
    if (event.body === "b" && write === 1) erased.push(event);
    return isOneOf("bc")(event) && write === 1 ? busy(event) : undefined;
  });
  const erasures = { erasedAmong: (events: readonly Event[]) => events.filter((event) => erased.includes(event)) };
  const { chain } = chainTo({ sink: broker, deadLetters, log: recordingLog().log, erasures });

  const settled = await deliver(chain, eventsOf("abcd"));

  assert.deepEqual([settled, broker.writes], [true, ["abcd", "c"]]);
  assert.deepEqual(await lettersIn(deadLetters), []);
});

const endless: RetryPolicy = { batchTtl: 10, batchRetryIntervals: [1], untilStored: true };

test("behind a durable channel an event that is refused beside others that are stored becomes a dead letter", async (context) => {
  const folder = await tempFolder(context);
  const broker = new Broker((event) => (event.body === "x" ? busy(event) : undefined));
  const deadLetters = new DeadLetters(folder);
  const { channel } = channelIn(folder);
  const { feed } = feedOf({ channel, sink: broker, deadLetters, log: recordingLog().log, retry: endless });
  await channel.start();
  context.after(() => channel.stop());
  await put(channel, "a", "x", "b");
  feed.start();
  await until(
    async () => broker.writes.length,
    (writes) => writes > 6,
  );
  const before = await lettersIn(deadLetters);

  await put(channel, "c", "d");
  await until(
    async () => channel.size,
    (size) => size === 0,
  );
  await feed.drain(AbortSignal.timeout(20_000));

  assert.deepEqual(before, []);
  assert.equal(textOf(broker.kept), "abcd");
  assert.deepEqual(await lettersIn(deadLetters), ["x permanent BUSY the queue of x is busy"]);
});

test("a sink that says its error is about no event has it written again without end, and the others pass", async (context) => {
  const folder = await tempFolder(context);
  let isBack = false;
  const broker = new Broker((event) => (event.body === "x" && !isBack ? busy(event) : undefined));
  Object.assign(broker, { answers: async () => false });
  const deadLetters = new DeadLetters(folder);
  const { channel } = channelIn(folder);
  const { feed } = feedOf({ channel, sink: broker, deadLetters, log: recordingLog().log, retry: endless });
  await channel.start();
  context.after(() => channel.stop());
  for (const name of "axbcdef") {
    await put(channel, name);
    if (name === "a") feed.start();
  }
  await until(
    async () => textOf(broker.kept),
    (kept) => kept === "abcdef",
  );

  isBack = true;
  await feed.drain(AbortSignal.timeout(20_000));

  assert.equal(textOf(broker.kept), "abcdefx");
  assert.deepEqual(await lettersIn(deadLetters), []);
});

test("an event that fails in several ways one after another, and then passes, is stored although others were", async (context) => {
  const writes: (string | undefined)[] = ["took half", "took a part", "away", "away", "away", "odd", undefined];
  const written: string[] = [];
  const sink: Sink = {
    start: async () => {},
    stop: async () => {},
    persist: async ({ events }) => {
      written.push(textOf(events));
      const message = writes[written.length - 1];
      if (message === undefined) return { requestBytes: 0, responseBytes: 0 };
      const named = message.startsWith("took") ? { events: events.slice(1) } : {};
      throw new AgentError("AWAY", message, { retryable: true, ...named });
    },
  };
  const { chain, counters, letters } = await setUp(context, sink, endless);

  await deliver(chain, eventsOf("abc"));

  assert.deepEqual(written, ["abc", "bc", "c", "c", "c", "c", "c"]);
  assert.deepEqual(await letters(), []);
  assert.equal(counters.persisted, 3);
});

test("a feed that takes the batch again writes only what was named", async (context) => {
  const folder = await tempFolder(context);
  let isBack = false;
  const broker = new Broker((event) => (event.body === "c" && !isBack ? busy(event) : undefined));
  const setting = { sink: broker, deadLetters: new DeadLetters(folder), log: recordingLog().log };
  const { channel } = channelIn(folder);
  const first = feedOf({ ...setting, channel, retry: { ...endless, batchRetryIntervals: [3_600_000] } });
  await channel.start();
  context.after(() => channel.stop());
  await put(channel, "a", "b", "c", "d");
  first.feed.start();
  await until(
    async () => broker.writes.length,
    (writes) => writes === 1,
  );

  await first.feed.halt(AbortSignal.timeout(5000));
  isBack = true;
  const second = feedOf({ ...setting, channel: first.outlet.channel, outlet: first.outlet });
  second.feed.start();
  await second.feed.drain(AbortSignal.timeout(5000));

  assert.deepEqual(broker.writes, ["abcd", "c"]);
});

for (let seed = 1; seed <= 30; seed += 1)
  test(`whatever a sink answers for each event, each is stored once or is one dead letter (seed ${seed})`, async (context) => {
    let state = seed;
    const random = (below: number) => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
      return Math.floor((state / 2_147_483_648) * below);
    };
    const judge = (event: Event) =>
      [undefined, undefined, unroutable, busy, () => new Error("odd")][random(5)]?.(event);
    const broker = new Broker(judge);
    const { chain, counters, letters } = await setUp(context, broker, { batchTtl: random(4) });
    const names = "abcdefghijklmnopqrstuvwxyz".slice(0, 1 + random(26));

    const settled = await deliver(chain, eventsOf(names));

    const kept = (await letters()).map((letter) => letter.slice(0, 1));
    assert.equal(settled, true);
    assert.deepEqual([...textOf(broker.kept), ...kept].sort().join(""), names);
    assert.deepEqual([counters.persisted, counters.deadLettered], [broker.kept.length, kept.length]);
  });
