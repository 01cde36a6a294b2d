import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { DeadLetters } from "../../../core/pipeline/dead-letters/dead-letters.js";
import type { RetryPolicy } from "../../../core/pipeline/delivery/retry-policy.js";
import { AgentError, type Event, type StoreAnswer } from "../../../core/sdk/index.js";
import type { Clock } from "../../../core/tokens.js";
import { channelIn } from "../../plugins/file-channel/channel-folder.js";
import { chainTo, deliver, feedOf, put } from "../../support/delivering.js";
import { recordingLog } from "../../support/recording-log.js";
import { ScriptedSink } from "../../support/scripted-sink.js";
import { tempFolder } from "../../support/temp-folder.js";
import { until } from "../../support/until.js";

const events = (names: string): Event[] => [...names].map((body) => ({ headers: {}, body }));
const text = (list: readonly Event[]) => list.map(({ body }) => body).join("");
const refused = (list: readonly Event[]) =>
  new AgentError("STORE", `storing ${list.length} events: internal error`, { retryable: true });
const isBad = ({ body }: Event) => body === "x" || body === "y";
/** As long as it takes: the batch is only settled by storing it or by finding the bad event. */
const endless: RetryPolicy = { batchTtl: 10, batchRetryIntervals: [1], untilStored: true };

interface Setting {
  readonly judge: (list: readonly Event[], write: number) => Error | undefined;
  /** What the store says when it is asked; absent: it cannot be asked. */
  readonly answers?: (error: unknown) => StoreAnswer;
  readonly retry?: RetryPolicy;
  readonly clock?: Clock;
}

async function setUp(context: TestContext, { judge, answers, retry = endless, ...rest }: Setting) {
  const sink = new ScriptedSink(judge);
  if (answers !== undefined) Object.assign(sink, { answers: async (error: unknown) => answers(error) });
  const deadLetters = new DeadLetters(await tempFolder(context));
  const { log, lines } = recordingLog();
  const { chain, counters } = chainTo({ sink, deadLetters, log, retry, ...rest });
  const letters = async () => {
    const kept = [];
    for await (const { event, reason } of deadLetters.open()) kept.push(`${event.body} ${reason}`);
    return kept;
  };
  return { sink, chain, counters, letters, lines };
}

const batches = ["x", "xbcd", "abxd", "abcx", "axcy", "xybc", "abcdefghijxklmn"];

for (const names of batches)
  test(`of ${names} the bad events become dead letters and all others are stored in order, while the store answers`, async (context) => {
    const judge = (list: readonly Event[]) => (list.some(isBad) ? refused(list) : undefined);
    const { sink, chain, letters } = await setUp(context, { judge, answers: () => true });

    const settled = await deliver(chain, events(names));

    assert.equal(settled, true);
    assert.equal(text(sink.stored), names.replaceAll(/[xy]/g, ""));
    assert.deepEqual(
      await letters(),
      [...names].filter((name) => "xy".includes(name)).map((name) => `${name} permanent`),
    );
  });

for (const { answer, reason } of [
  { answer: "lasting", reason: "permanent" },
  { answer: "passing", reason: "retries-exhausted" },
] as const)
  test(`while the store takes others and the error is ${answer}, many bad events in a row are found without a pause for each`, async (context) => {
    const judge = (list: readonly Event[]) => (list.some(isBad) ? refused(list) : undefined);
    const { sink, chain, letters, lines } = await setUp(context, { judge, answers: () => answer });

    await deliver(chain, events("xxxxyab"));

    assert.equal(text(sink.stored), "ab");
    assert.deepEqual(
      await letters(),
      [..."xxxxy"].map((name) => `${name} ${reason}`),
    );
    assert.equal(lines.filter(({ message }) => message === "batch not stored, will be retried").length, 3);
  });

for (const { answer, reason } of [
  { answer: "lasting", reason: "permanent" },
  { answer: "passing", reason: "retries-exhausted" },
] as const)
  test(`where the sink names the events that are the reason and the error is ${answer}, all others are stored with one write`, async (context) => {
    const besides = new AgentError("NOT_WRITTEN", "not written with others", { retryable: true });
    const judge = (list: readonly Event[]) => {
      if (!list.some(isBad)) return undefined;
      const failed = new Map(list.map((event) => [event, isBad(event) ? refused([event]) : besides]));
      return new AgentError("STORE", "internal error", { retryable: true, events: failed });
    };
    const { sink, chain, letters } = await setUp(context, { judge, answers: () => answer });

    await deliver(chain, events("axbcyxd"));

    assert.deepEqual(sink.writes.slice(3).map(text), ["axbcyxd", "axbcyxd", "abcd"]);
    assert.deepEqual(
      await letters(),
      [..."xyx"].map((name) => `${name} ${reason}`),
    );
  });

test("an event that the sink names as the reason only after the store was asked is stored when it passes then", async (context) => {
  const besides = new AgentError("NOT_WRITTEN", "not written with others", { retryable: true });
  const reasons = ["a", "a", "a", "a", "c"];
  const judge = (list: readonly Event[]) => {
    const reason = reasons.shift();
    if (reason === undefined) return undefined;
    const failed = new Map(list.map((event) => [event, text([event]) === reason ? refused([event]) : besides]));
    return new AgentError("STORE", "internal error", { retryable: true, events: failed });
  };
  const { sink, chain, letters } = await setUp(context, { judge, answers: () => "lasting" });

  await deliver(chain, events("abcd"));

  assert.equal(text(sink.stored), "abcd");
  assert.deepEqual(await letters(), []);
});

test("events that the sink named as the reason, and that were mended before the store was asked, are stored", async (context) => {
  let isMended = false;
  const besides = new AgentError("NOT_WRITTEN", "not written with others", { retryable: true });
  const judge = (list: readonly Event[]) => {
    const failed = new Map(list.map((event) => [event, isBad(event) ? refused([event]) : besides]));
    return isMended ? undefined : new AgentError("STORE", "internal error", { retryable: true, events: failed });
  };
  const answers = () => {
    isMended = true;
    return "passing" as const;
  };
  const { sink, chain, letters } = await setUp(context, { judge, answers });

  await deliver(chain, events("axb"));

  assert.equal(text(sink.stored), "axb");
  assert.deepEqual(await letters(), []);
});

const named = (name: string) =>
  new AgentError("STORE", `row "${name}" is refused: value ${name}1 is too high`, { retryable: true });

for (const { when, seconds, pauses } of [
  { when: "within a minute", seconds: 59, pauses: 3 },
  { when: "a minute later", seconds: 60, pauses: 6 },
])
  test(`a batch that fails ${when} as one did whose bad event was found has ${pauses - 3} tries before it is searched`, async (context) => {
    let now = Date.parse("2026-01-15T10:20:30Z");
    const judge = (list: readonly Event[]) => list.filter(isBad).map((event) => named(text([event])))[0];
    const { sink, chain, letters, lines } = await setUp(context, {
      judge,
      answers: () => "lasting",
      clock: { now: () => new Date(now) },
    });

    await deliver(chain, events("axb"));
    now += seconds * 1000;
    await deliver(chain, events("cyd"));

    assert.equal(text(sink.stored), "abcd");
    assert.deepEqual(await letters(), ["x permanent", "y permanent"]);
    assert.equal(lines.filter(({ message }) => message === "batch not stored, will be retried").length, pauses);
  });

test("the reason of a failure may be a megabyte in one word", async (context) => {
  const long = "x".repeat(2 ** 20);
  const judge = (list: readonly Event[]) =>
    list.some(isBad) ? new AgentError("STORE", long, { retryable: true }) : undefined;
  const { sink, chain, letters } = await setUp(context, { judge, answers: () => "lasting" });

  await deliver(chain, events("axb"));

  assert.equal(text(sink.stored), "ab");
  assert.deepEqual(await letters(), ["x permanent"]);
});

test("a batch that fails as one did whose bad event was found waits when the store has gone away meanwhile", async (context) => {
  let answer: StoreAnswer = "lasting";
  const judge = (list: readonly Event[], write: number) =>
    list.some(isBad) || (answer === false && write < 60) ? refused(list) : undefined;
  const { sink, chain, letters } = await setUp(context, { judge, answers: () => answer });

  await deliver(chain, events("axb"));
  answer = false;
  await deliver(chain, events("cd"));

  assert.equal(text(sink.stored), "abcd");
  assert.deepEqual(await letters(), ["x permanent"]);
});

test("an event that failed until just before the store was asked is stored", async (context) => {
  let isMended = false;
  const judge = (list: readonly Event[]) => (isMended ? undefined : refused(list));
  const answers = () => {
    isMended = true;
    return "lasting" as const;
  };
  const { sink, chain, letters } = await setUp(context, { judge, answers });

  await deliver(chain, events("a"));

  assert.deepEqual([text(sink.stored), await letters()], ["a", []]);
});

test("events that fail for two reasons are found, whichever the store names first", async (context) => {
  const failure = (name: string) => new AgentError("STORE", `row of ${name} is refused`, { retryable: true });
  const judge = (list: readonly Event[]) => {
    const names = text(list);
    if (names.includes("y")) return failure("y");
    return names.includes("x") ? failure("x") : undefined;
  };
  const { sink, chain, letters } = await setUp(context, { judge, answers: () => true });

  await deliver(chain, events("xaybxc"));

  assert.equal(text(sink.stored), "abc");
  assert.deepEqual(await letters(), ["x permanent", "y permanent", "x permanent"]);
});

for (const names of ["xbcd", "xbc", "abxdef"])
  test(`of ${names} the bad event is found by its neighbours where the store cannot be asked`, async (context) => {
    const judge = (list: readonly Event[]) => (list.some(isBad) ? refused(list) : undefined);
    const { sink, chain, letters } = await setUp(context, { judge });

    await deliver(chain, events(names));

    assert.equal(text(sink.stored), names.replace("x", ""));
    assert.deepEqual(await letters(), ["x permanent"]);
  });

const storesAway = [
  { what: "says that it is away", answers: () => false },
  { what: "cannot be asked", answers: undefined },
  {
    what: "fails while it is asked",
    answers: () => {
      throw new Error("no connection");
    },
  },
] as const;

for (const { what, answers } of storesAway)
  test(`while a store that ${what} refuses everything nothing becomes a dead letter, and then all is stored in order`, async (context) => {
    const judge = (list: readonly Event[], write: number) => (write <= 60 ? refused(list) : undefined);
    const { sink, chain, letters } = await setUp(context, { judge, ...(answers === undefined ? {} : { answers }) });

    await deliver(chain, events("abcdefgh"));

    assert.equal(text(sink.stored), "abcdefgh");
    assert.deepEqual(await letters(), []);
  });

test("a store that goes away in the middle of a search keeps the rest in order", async (context) => {
  const gone = () => sink.writes.length > 5 && sink.writes.length < 30;
  const judge = (list: readonly Event[]) => {
    if (gone()) return new AgentError("GONE", "connection refused", { retryable: true });
    return list.some(isBad) ? refused(list) : undefined;
  };
  const { sink, chain, letters } = await setUp(context, { judge, answers: () => !gone() });

  await deliver(chain, events("abxd"));

  assert.equal(text(sink.stored), "abd");
  assert.deepEqual(await letters(), ["x permanent"]);
});

test("an event that fails in another way while its batch is searched keeps its place before the others", async (context) => {
  let alone = 0;
  const judge = (list: readonly Event[], write: number) => {
    if (write <= 4) return refused(list);
    alone += text(list) === "a" ? 1 : 0;
    const isAway = text(list) === "a" && alone < 4;
    return isAway ? new AgentError("STORE", "the store is away for a moment", { retryable: true }) : undefined;
  };
  const { sink, chain, letters } = await setUp(context, { judge });

  await deliver(chain, events("ab"));

  assert.equal(text(sink.stored), "ab");
  assert.deepEqual(await letters(), []);
});

test("an event that fails alone twice in another way than its batch, and then passes, is stored, not kept", async (context) => {
  let alone = 0;
  const judge = (list: readonly Event[], write: number) => {
    if (write <= 4) return refused(list);
    alone += text(list) === "a" ? 1 : 0;
    const isBusy = text(list) === "a" && alone < 3;
    return isBusy ? new AgentError("STORE", "busy for a moment", { retryable: true }) : undefined;
  };
  const { sink, chain, letters } = await setUp(context, { judge, answers: () => true });

  await deliver(chain, events("ab"));

  assert.equal(text(sink.stored), "ab");
  assert.deepEqual(await letters(), []);
});

test("an event that passes when it is alone is stored, not kept", async (context) => {
  const judge = (list: readonly Event[]) => (list.length > 1 ? refused(list) : undefined);
  const { sink, chain, letters } = await setUp(context, { judge, answers: () => true });

  await deliver(chain, events("abcd"));

  assert.equal(text(sink.stored), "abcd");
  assert.deepEqual(await letters(), []);
});

for (const error of ["one that may pass", "one that does not say"] as const)
  test(`a single event that fails with ${error} is judged when others have come behind it`, async (context) => {
    const dataDir = await tempFolder(context);
    const { log } = recordingLog();
    const failure = (list: readonly Event[]) =>
      error === "one that may pass" ? refused(list) : new TypeError("a bug");
    const sink = new ScriptedSink((list) => (list.some(isBad) ? failure(list) : undefined));
    const deadLetters = new DeadLetters(dataDir);
    const { channel } = channelIn(dataDir);
    const { feed } = feedOf({ channel, sink, deadLetters, log, retry: endless });
    await channel.start();
    context.after(() => channel.stop());
    await put(channel, "x");
    feed.start();
    await until(
      async () => sink.writes.length,
      (writes) => writes > 8,
    );

    await put(channel, "a", "b", "c");
    await feed.drain(AbortSignal.timeout(20_000));

    assert.equal(text(sink.stored), "abc");
    assert.equal(channel.size, 0);
    const kept = [];
    for await (const { event } of deadLetters.open()) kept.push(event.body);
    assert.deepEqual(kept, ["x"]);
  });

test("a store that asks to wait is busy: no event is suspected", async (context) => {
  const busy = new AgentError("BUSY", "too many requests", { retryable: true, retryAfter: 1 });
  const judge = (_: readonly Event[], write: number) => (write <= 20 ? busy : undefined);
  const { sink, chain, letters } = await setUp(context, { judge, answers: () => true });

  await deliver(chain, events("ab"));

  assert.equal(text(sink.stored), "ab");
  assert.deepEqual(await letters(), []);
  assert.ok(sink.writes.every((write) => write.length === 2));
});

test("behind a durable channel a store may be away for longer than the default of batch_ttl", async (context) => {
  const judge = (list: readonly Event[], write: number) => (write <= 200 ? refused(list) : undefined);
  const { sink, chain, letters } = await setUp(context, { judge, answers: () => false });

  await deliver(chain, events("a"));

  assert.equal(sink.writes.length, 201);
  assert.deepEqual(await letters(), []);
});
