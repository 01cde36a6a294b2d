import assert from "node:assert/strict";
import { test } from "node:test";
import { ChannelProcessor } from "../../core/pipeline/channel-processor.js";
import {
  AgentError,
  codeOf,
  type Event,
  type Interceptor,
  type InterceptorTuning,
  retryableOf,
} from "../../core/sdk/index.js";
import { refusedByChannels } from "../../core/sdk/source.js";
import { MemoryChannel } from "../../plugins/memory-channel/memory-channel.js";
import { recordingLog } from "../support/recording-log.js";
import { until } from "../support/until.js";

const events = (...bodies: readonly unknown[]): Event[] => bodies.map((body) => ({ headers: {}, body }));

/** An interceptor whose answers are given by hand. */
class Desk implements Interceptor {
  readonly tuning: InterceptorTuning;
  /** The bodies of the calls, in their order. */
  readonly calls: unknown[] = [];
  readonly signals: AbortSignal[] = [];
  readonly #open = new Map<unknown, { resolve(made: Event | undefined): void; reject(error: unknown): void }>();

  constructor(tuning: InterceptorTuning = {}) {
    this.tuning = tuning;
  }

  intercept(event: Event, signal: AbortSignal): Promise<Event | undefined> {
    this.calls.push(event.body);
    this.signals.push(signal);
    return new Promise((resolve, reject) => this.#open.set(event.body, { resolve, reject }));
  }

  async answer(body: unknown, made: Event | undefined = { headers: { answered: "yes" }, body }): Promise<void> {
    this.#open.get(body)?.resolve(made);
    await turn();
  }

  async drop(body: unknown): Promise<void> {
    this.#open.get(body)?.resolve(undefined);
    await turn();
  }

  async fail(body: unknown, error: unknown): Promise<void> {
    this.#open.get(body)?.reject(error);
    await turn();
  }
}

/** Everything that can happen by promises alone has happened. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function processor(...interceptors: readonly Interceptor[]) {
  const { log, lines } = recordingLog();
  const config = { capacity: 1000, transactionCapacity: 100, "keep-alive": 0 };
  const channel = new MemoryChannel(config, { name: "c", log, dataDir: "unused", run: "run", now: () => new Date(0) });
  const made = new ChannelProcessor({
    interceptors: interceptors.map((interceptor, at) => ({ interceptor, title: `"i${at + 1}" of type "desk"` })),
    selector: { select: () => ({ required: ["c"], optional: [] }) },
    channels: new Map([["c", channel]]),
    log,
  });
  const stored = async () => {
    const transaction = channel.openTake();
    const taken = await transaction.take(100, AbortSignal.abort());
    await transaction.rollback();
    return taken.map(({ body }) => body);
  };
  return { made, channel, lines, stored };
}

test("an event is put when its look-up is answered, as the look-up made it, or is dropped", async () => {
  const desk = new Desk();
  const { made, stored } = processor(desk);

  const emitted = made.emit(events(1, 2, 3));
  await desk.answer(3);
  await desk.drop(1);
  const before = await stored();
  await desk.answer(2, { headers: {}, body: "two" });
  await emitted;

  assert.deepEqual([before, await stored()], [[], ["two", 3]]);
});

test("notifications stay in their order, however their look-ups are answered", async () => {
  const desk = new Desk();
  const { made, stored } = processor(desk);

  const emitted = [made.emit(events(1)), made.emit(events(2)), made.emit(events(3))];
  await desk.answer(3);
  await desk.answer(2);
  const before = await stored();
  await desk.answer(1);
  await Promise.all(emitted);

  assert.deepEqual([before, await stored()], [[], [1, 2, 3]]);
});

test("a notification that needs no look-up does not overtake one that waits", async () => {
  const desk = new Desk();
  const cached: Interceptor = {
    intercept: (event, signal) => (event.body === "known" ? event : desk.intercept(event, signal)),
  };
  const { made, stored } = processor(cached);

  const emitted = [made.emit(events("asked")), made.emit(events("known"))];
  await turn();
  const before = await stored();
  await desk.answer("asked");
  await Promise.all(emitted);
  await made.emit(events("known"));

  assert.deepEqual([before, await stored()], [[], ["asked", "known", "known"]]);
});

test("the interceptors behind a look-up get the events in their order", async () => {
  const desk = new Desk();
  const seen: unknown[] = [];
  const counting: Interceptor = {
    intercept: (event) => {
      seen.push(event.body);
      return event;
    },
  };
  const { made } = processor(desk, counting);

  const emitted = [made.emit(events(1, 2)), made.emit(events(3))];
  for (const body of [3, 2, 1]) await desk.answer(body);
  await Promise.all(emitted);

  assert.deepEqual(seen, [1, 2, 3]);
});

test("two look-ups in a row are made one after the other, the second in the order of the events", async () => {
  const [first, second] = [new Desk(), new Desk()];
  const { made, stored } = processor(first, second);

  const emitted = [made.emit(events(1)), made.emit(events(2))];
  await first.answer(2);
  const early = [...second.calls];
  await first.answer(1);
  const late = [...second.calls];
  await second.answer(2);
  await second.answer(1);
  await Promise.all(emitted);

  assert.deepEqual([early, late, await stored()], [[], [1, 2], [1, 2]]);
});

test("no more look-ups are made at a time than the interceptor says", async () => {
  const desk = new Desk({ concurrency: 2 });
  const { made, stored } = processor(desk);

  const emitted = [made.emit(events(1, 2, 3)), made.emit(events(4))];
  const atFirst = [...desk.calls];
  await desk.answer(2);
  const then = [...desk.calls];
  for (const body of [1, 3, 4]) await desk.answer(body);
  await Promise.all(emitted);

  assert.deepEqual(
    [atFirst, then, await stored()],
    [
      [1, 2],
      [1, 2, 3],
      [1, 2, 3, 4],
    ],
  );
});

test("sixteen look-ups are made at a time when the interceptor says nothing, or nonsense", async () => {
  for (const tuning of [{}, { concurrency: 0 }, { concurrency: Number.NaN }, { concurrency: -1, timeLimit: 0 }]) {
    const desk = new Desk(tuning);
    const { made } = processor(desk);

    const emitted = made.emit(events(...Array.from({ length: 40 }, (_, at) => at)));
    const atFirst = desk.calls.length;
    for (let body = 0; body < 40; body += 1) await desk.answer(body);
    await emitted;

    assert.deepEqual([atFirst, desk.calls.length], [16, 40]);
  }
});

test("a look-up that fails refuses its notification retryably, and the next ones are put", async () => {
  const desk = new Desk();
  const { made, lines, stored } = processor(desk);

  const refused = made.emit(events(1, 2)).catch((error: unknown) => error);
  const next = made.emit(events(3));
  await desk.answer(3);
  await desk.answer(1);
  await desk.fail(2, new Error("connect ECONNREFUSED 10.0.0.7:6379"));
  const error = await refused;
  await next;

  assert.deepEqual([codeOf(error), retryableOf(error)], ["INTERCEPTOR_FAILED", true]);
  const { status, reason } = refusedByChannels(error);
  assert.deepEqual([status, reason], [503, 'interceptor "i1" of type "desk" failed']);
  assert.deepEqual(await stored(), [3]);
  const logged = lines.filter(({ level }) => level === "error").map(({ fields }) => fields);
  assert.deepEqual(logged, [
    { interceptor: '"i1" of type "desk"', reason: "connect ECONNREFUSED 10.0.0.7:6379", count: 1 },
  ]);
});

test("a look-up that says it will always fail refuses for good", async () => {
  const desk = new Desk();
  const { made } = processor(desk);

  const refused = made.emit(events(1)).catch((error: unknown) => error);
  await desk.fail(1, new AgentError("NO_SUCH_DEVICE", "looking up", { retryable: false }));
  const error = await refused;

  assert.deepEqual([codeOf(error), retryableOf(error)], ["NO_SUCH_DEVICE", false]);
  assert.equal(refusedByChannels(error).status, 500);
});

test("a throw names the interceptor, and refuses as before", async () => {
  const broken: Interceptor = {
    intercept: () => {
      throw new TypeError("x is not a function");
    },
  };
  const { made, lines } = processor(broken);

  const error = await made.emit(events(1)).catch((thrown: unknown) => thrown);

  assert.deepEqual([codeOf(error), refusedByChannels(error).status], ["INTERCEPTOR_FAILED", 500]);
  assert.match(JSON.stringify(lines), /i1.*x is not a function/);
});

test("what the promise of an interceptor holds is checked like what it returns", async () => {
  const desk = new Desk();
  const { made, channel } = processor(desk);

  const refused = made.emit(events(1)).catch((error: unknown) => error);
  await desk.answer(1, { headers: {}, body: 1n });

  assert.equal(codeOf(await refused), "EVENT_MALFORMED");
  assert.equal(channel.size, 0);
});

test("a look-up that is not answered in time refuses its notification, hears of it, and makes room", async () => {
  const desk = new Desk({ concurrency: 1, timeLimit: 1 });
  const { made, stored } = processor(desk);

  const error = await made.emit(events(1, 2)).catch((thrown: unknown) => thrown);
  const next = made.emit(events(3));
  await desk.answer(3);
  await next.catch(() => undefined);

  assert.deepEqual([codeOf(error), retryableOf(error)], ["INTERCEPTOR_TIMED_OUT", true]);
  assert.equal(desk.signals[0]?.aborted, true);
  assert.equal(desk.calls.at(-1), 3);
  assert.deepEqual(
    (await stored()).filter((body) => body !== 3),
    [],
  );
});

test("what waits is refused retryably when its source stops, and no further call is made", async () => {
  const desk = new Desk({ concurrency: 1 });
  const { made, channel } = processor(desk);

  const refused = [made.emit(events(1, 2)), made.emit(events(3))].map((one) => one.catch((error: unknown) => error));
  made.stop();
  made.stop();
  const errors = await Promise.all(refused);
  await desk.answer(1);

  assert.deepEqual(
    errors.map((error) => [codeOf(error), retryableOf(error)]),
    [
      ["INTERCEPTOR_FAILED", true],
      ["INTERCEPTOR_FAILED", true],
    ],
  );
  assert.deepEqual([desk.calls, desk.signals[0]?.aborted, channel.size], [[1], true, 0]);
});

test("an interceptor that names no signal has one for all calls, however many wait", async (context) => {
  const seen = new Set<AbortSignal>();
  const warnings: string[] = [];
  const warn = (warning: Error) => warnings.push(warning.message);
  process.on("warning", warn);
  context.after(() => process.off("warning", warn));
  const looking: Interceptor = {
    async intercept(...given) {
      const [event, signal] = given;
      seen.add(signal);
      signal.addEventListener("abort", () => undefined);
      await turn();
      return event;
    },
  };
  const { made, stored } = processor(looking);

  await Promise.all([made.emit(events(...Array.from({ length: 50 }, (_, at) => at)))]);
  await until(stored, ({ length }) => length === 50);

  assert.deepEqual([seen.size, warnings], [1, []]);
});

test("five hundred notifications at once, answered in any order, stay in theirs", async () => {
  let state = 7;
  const random = () => {
    state = (state * 48_271) % 2_147_483_647;
    return state;
  };
  const sometimes: Interceptor = {
    intercept: (event) => {
      if (random() % 3 === 0) return event;
      const waits = random() % 4;
      return (async () => {
        for (let one = 0; one < waits; one += 1) await turn();
        return event;
      })();
    },
  };
  const { made, channel } = processor(sometimes, sometimes);
  const numbers = Array.from({ length: 500 }, (_, at) => at);

  await Promise.all(numbers.map((number) => made.emit(events(number))));
  const taken: unknown[] = [];
  for (let takes = 0; takes < 5; takes += 1) {
    const transaction = channel.openTake();
    taken.push(...(await transaction.take(100, AbortSignal.abort())).map(({ body }) => body));
    await transaction.commit();
  }

  assert.deepEqual(taken, numbers);
});
