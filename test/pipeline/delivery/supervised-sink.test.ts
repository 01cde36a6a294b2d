import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { SupervisedSink } from "../../../core/pipeline/delivery/supervised-sink.js";
import {
  AgentError,
  type Batch,
  codeOf,
  type Event,
  type Receipt,
  reasonOf,
  retryableOf,
  type Sink,
} from "../../../core/sdk/index.js";
import { batchOf, course } from "../../support/delivering.js";
import { recordingLog } from "../../support/recording-log.js";

const forever = course();
const batch = batchOf([{ headers: {}, body: 1 }]);
const receipt: Receipt = { requestBytes: 1, responseBytes: 2 };
const clock = { now: () => new Date("2026-01-15T10:20:30.123Z") };

type Persist = (signal: AbortSignal) => Promise<Receipt>;

/** The first sink made persists with the first function, the second with the second, the last with the last. */
function setUp(persists: readonly Persist[], { stop = async () => {}, persistTimeout = 0.02 }: Partial<Settings> = {}) {
  const made: { starts: number; stops: number }[] = [];
  const statuses: string[] = [];
  const { log, lines } = recordingLog();
  const create = (): Sink => {
    const counts = { starts: 0, stops: 0 };
    const persist = persists[Math.min(made.length, persists.length - 1)];
    made.push(counts);
    assert.ok(persist);
    return {
      start: async () => {
        counts.starts += 1;
      },
      stop: async () => {
        counts.stops += 1;
        await stop();
      },
      persist: async (_batch, signal) => await persist(signal),
    };
  };
  const tell = (status: string) => statuses.push(status);
  const sink = new SupervisedSink({ name: "s1", create, persistTimeout, log, clock, tell });
  return { sink, made, statuses, lines };
}

interface Settings {
  readonly stop: () => Promise<void>;
  readonly persistTimeout: number;
}

const works: Persist = async () => receipt;
const never = () => new Promise<never>(() => {});
const hangsUntilAborted: Persist = (signal) =>
  new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("gave up"))));

test("a write that hangs is given up in time, its sink stopped, and the next try goes to a new one", async () => {
  const { sink, made, statuses } = setUp([hangsUntilAborted, works]);
  await sink.start();

  await assert.rejects(
    sink.deliver(batch, forever),
    (error) => codeOf(error) === "TIMED_OUT" && retryableOf(error) === true,
  );
  const failing = sink.health.failure;
  const stored = await sink.deliver(batch, forever);

  assert.equal(failing?.since.toISOString(), "2026-01-15T10:20:30.123Z");
  assert.deepEqual(stored, receipt);
  assert.deepEqual(statuses, ["ERROR", "START"]);
  assert.equal(sink.health.failure, undefined);
  assert.deepEqual(made, [
    { starts: 1, stops: 1 },
    { starts: 1, stops: 0 },
  ]);
});

for (const { what, question, asks } of [
  {
    what: "which events are stored",
    question: { positions: { alreadyStored: never } },
    asks: async (sink: SupervisedSink) =>
      await assert.rejects(sink.alreadyStored(batch, forever.signal), (error) => codeOf(error) === "TIMED_OUT"),
  },
  {
    what: "whether its store answers",
    question: { answers: never },
    asks: async (sink: SupervisedSink) => assert.equal(await sink.answers(new Error(), forever.signal), false),
  },
])
  test(`a sink that hangs when it is asked ${what} is replaced, and the log says why`, async () => {
    const { log, lines } = recordingLog();
    let made = 0;
    const create = (): Sink => {
      made += 1;
      return {
        start: async () => {},
        stop: async () => {},
        persist: async () => receipt,
        ...(made === 1 ? question : {}),
      };
    };
    const sink = new SupervisedSink({ name: "s1", create, persistTimeout: 0.02, log, clock });
    await sink.start();

    await asks(sink);
    const stored = await sink.deliver(batch, forever);

    assert.deepEqual([stored, made], [receipt, 2]);
    const errors = lines.filter(({ level }) => level === "error");
    assert.deepEqual(
      errors.map(({ message }) => message),
      ["sink is stopped and will be started again"],
    );
  });

test("a write that ignores its signal and a stop that never ends do not hold up the runner", async () => {
  const { sink, lines } = setUp([never, works], { stop: never });
  await sink.start();

  await assert.rejects(sink.deliver(batch, forever), (error) => codeOf(error) === "TIMED_OUT");
  const stored = await sink.deliver(batch, forever);

  assert.deepEqual(stored, receipt);
  assert.ok(lines.some(({ message }) => message === "sink did not stop cleanly and is left behind"));
});

test("a write that ends well after it was asked to give up is stored, not tried again", async () => {
  const storesAfterAll: Persist = (signal) =>
    new Promise((resolve) => signal.addEventListener("abort", () => resolve(receipt)));
  const { sink, made } = setUp([storesAfterAll]);
  await sink.start();

  const stored = await sink.deliver(batch, forever);

  assert.deepEqual(stored, receipt);
  assert.equal(made.length, 1);
});

const fail = (): never => assert.fail("this cannot be read");
const unreadable = new Proxy({}, { get: fail, has: fail, getPrototypeOf: fail, ownKeys: fail });

const thrown = [
  { what: "a text", value: "no", message: /the sink threw what is no error: no$/ },
  { what: "undefined", value: undefined, message: /the sink threw what is no error: undefined$/ },
  {
    what: "an object without prototype",
    value: Object.create(null),
    message: /the sink threw what is no error: something was thrown that cannot be made a text$/,
  },
  {
    what: "what throws when it is asked for its members",
    value: unreadable,
    message: /the sink threw what is no error: something was thrown that cannot be made a text$/,
  },
  {
    what: "the answer of a client, which may hold a secret,",
    value: { status: 401, config: { headers: { authorization: "sesame-1" } } },
    message: /the sink threw what is no error: an object that is no error was thrown, with status, config$/,
  },
] as const;

for (const { what, value, message } of thrown)
  test(`a sink that throws ${what} gives an error that may be retried to the limit`, async () => {
    const { sink } = setUp([() => Promise.reject(value)]);
    await sink.start();

    await assert.rejects(
      sink.deliver(batch, forever),
      (error) => error instanceof Error && message.test(error.message) && retryableOf(error) === undefined,
    );
  });

test("each call of a sink that throws what cannot be read fails with an error that can", async () => {
  const { log } = recordingLog();
  const throws = () => Promise.reject(unreadable);
  const positions = { stored: throws, alreadyStored: throws, summary: throws };
  const plugin = { start: throws, stop: async () => {}, persist: throws, positions };
  const sink = new SupervisedSink({ name: "s1", create: () => plugin, persistTimeout: 0, log, clock });

  const calls = [sink.start(), sink.storedPositions(forever.signal), sink.storedSummary(forever.signal)];
  const reasons = (await Promise.allSettled(calls)).map((call) => call.status === "rejected" && reasonOf(call.reason));

  const reason = "the sink threw what is no error: something was thrown that cannot be made a text";
  assert.deepEqual(reasons, [reason, reason, reason]);
});

for (const returned of [undefined, null, 5, { requestBytes: "many", responseBytes: Number.NaN, elsewhere: 1 }])
  test(`a write in JavaScript that resolves to ${inspect(returned)} is stored`, async () => {
    const { log } = recordingLog();
    const plugin = { start: async () => {}, stop: async () => {}, persist: async () => receipt };
    Reflect.set(plugin, "persist", async () => returned);
    const sink = new SupervisedSink({ name: "s1", create: () => plugin, persistTimeout: 0, log, clock });
    await sink.start();

    assert.deepEqual(await sink.deliver(batch, forever), { requestBytes: 0, responseBytes: 0 });
  });

const unreadableReceipts: readonly { readonly what: string; readonly members: object }[] = [
  { what: "of whose members one throws", members: Object.defineProperty({}, "requestBytes", { get: refused }) },
  { what: "whose list of events cannot be read", members: { elsewhere: new Proxy([1], { get: refused }) } },
  { what: "of which nothing can be read", members: new Proxy({}, { get: refused }) },
];
for (const { what, members } of unreadableReceipts)
  test(`a write that resolves to a receipt ${what} is stored, not made again`, async () => {
    const { log } = recordingLog();
    const plugin = { start: async () => {}, stop: async () => {}, persist: async () => receipt };
    Reflect.set(plugin, "persist", () => resolvedTo(members));
    const sink = new SupervisedSink({ name: "s1", create: () => plugin, persistTimeout: 0, log, clock });
    await sink.start();

    assert.deepEqual(await sink.deliver(batch, forever), { requestBytes: 0, responseBytes: 0 });
  });

function refused(_target?: object, name?: PropertyKey): undefined {
  // A promise asks whether what it is resolved to is a promise.
  if (name === "then") return undefined;
  throw new Error("a member that cannot be read");
}

async function resolvedTo(members: object): Promise<object> {
  return members;
}

test("a sink that throws before it returns a promise is no other case", async () => {
  const { log } = recordingLog();
  const broken = {
    start: async () => {},
    stop: async () => {},
    persist: () => {
      throw new AgentError("POISON", "storing what never goes in", { retryable: false });
    },
  };
  const sink = new SupervisedSink({ name: "s1", create: () => broken, persistTimeout: 0, log, clock });
  await sink.start();

  await assert.rejects(sink.deliver(batch, forever), (error) => codeOf(error) === "POISON");
  assert.equal(sink.health.failure, undefined, "bad data is no failure of the sink");
});

test("a sink that fails three times in a row without saying why is replaced", async () => {
  const fails: Persist = async () => {
    throw new TypeError("a bug");
  };
  const { sink, made } = setUp([fails, works]);
  await sink.start();

  for (let attempt = 1; attempt <= 3; attempt += 1) {
    assert.equal(made.length, 1);
    await assert.rejects(sink.deliver(batch, forever), TypeError);
  }
  const stored = await sink.deliver(batch, forever);

  assert.deepEqual(stored, receipt);
  assert.equal(made.length, 2);
});

test("a new sink that does not start is tried again with the next write", async () => {
  let made = 0;
  const create = (): Sink => {
    made += 1;
    const number = made;
    return {
      start: async () => {
        if (number === 2) throw new Error("the store is away");
      },
      stop: async () => {},
      persist: async (_batch, signal) => (number === 1 ? await hangsUntilAborted(signal) : receipt),
    };
  };
  const { log } = recordingLog();
  const sink = new SupervisedSink({ name: "s1", create, persistTimeout: 0.02, log, clock });
  await sink.start();

  await assert.rejects(sink.deliver(batch, forever), (error) => codeOf(error) === "TIMED_OUT");
  await assert.rejects(sink.deliver(batch, forever), (error) => codeOf(error) === "SINK_NOT_STARTED");
  const stored = await sink.deliver(batch, forever);

  assert.deepEqual(stored, receipt);
  assert.equal(made, 3);
});

test("the end of the agent ends a write that hangs", async () => {
  const ending = new AbortController();
  const { sink, statuses } = setUp([never], { persistTimeout: 0 });
  await sink.start();

  const writing = sink.deliver(batch, course(ending.signal));
  ending.abort();

  await assert.rejects(writing, (error) => codeOf(error) === "NOT_ENDED");
  assert.deepEqual(statuses, []);
});

test("an event of a batch keeps its identity through the supervision", async () => {
  const seen: Event[] = [];
  const { log } = recordingLog();
  const keeps = {
    start: async () => {},
    stop: async () => {},
    persist: async ({ events }: Batch) => {
      seen.push(...events);
      return receipt;
    },
  };
  const sink = new SupervisedSink({ name: "s1", create: () => keeps, persistTimeout: 1, log, clock });

  await sink.deliver(batch, forever);

  assert.equal(seen[0], batch.events[0]);
});

/** What a sink in JavaScript may return in place of events of its batch, and how many of them count. */
const named: readonly {
  readonly what: string;
  readonly of: (events: readonly Event[]) => unknown;
  readonly count: number;
}[] = [
  { what: "nothing", of: () => undefined, count: 0 },
  { what: "what is no list", of: () => ({ length: 1 }), count: 0 },
  { what: "texts", of: () => ["a"], count: 0 },
  { what: "an event that is not in the batch", of: () => [{ headers: {}, body: 1 }], count: 0 },
  { what: "an event twice", of: (events) => [...events, ...events], count: 1 },
];

for (const { what, of, count } of named)
  test(`of a sink that names ${what} as stored ${count} events count as stored`, async () => {
    const own = { ...receipt };
    const positions: NonNullable<Sink["positions"]> = {};
    Reflect.set(own, "elsewhere", of(batch.events));
    Reflect.set(positions, "alreadyStored", async ({ events }: Batch) => of(events));
    const names: Sink = { start: async () => {}, stop: async () => {}, persist: async () => own, positions };
    const { log } = recordingLog();
    const sink = new SupervisedSink({ name: "s1", create: () => names, persistTimeout: 1, log, clock });

    const stored = await sink.alreadyStored(batch, forever.signal);
    const { elsewhere = [] } = await sink.deliver(batch, forever);

    assert.deepEqual([stored.length, elsewhere.length], [count, count]);
  });
