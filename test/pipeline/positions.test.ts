import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { catchUpOf } from "../../core/pipeline/catch-up.js";
import { CountedChannel } from "../../core/pipeline/counted-channel.js";
import { SinkCounters } from "../../core/pipeline/counters.js";
import { DeadLetters } from "../../core/pipeline/dead-letters.js";
import { SinkDelivery } from "../../core/pipeline/delivery.js";
import { SinkRunner } from "../../core/pipeline/sink-runner.js";
import { AgentError, type Batch, type Event, type Receipt, type Sink } from "../../core/sdk/index.js";
import { channelIn } from "../plugins/file-channel/channel-folder.js";
import { recordingLog } from "../support/recording-log.js";
import { tempFolder } from "../support/temp-folder.js";

/** What a database keeps: rows, and the position of the channel written in the same transaction. */
interface Store {
  readonly rows: unknown[];
  position: string | undefined;
}

/** A sink over that store; it refuses what is called `x` and, when told so, ends the process right after a write. */
class KeepingSink implements Sink {
  readonly #store: Store;
  readonly #crash: AbortController | undefined;
  readonly #failures: Error[];

  constructor(store: Store, crash?: AbortController, failures: Error[] = []) {
    this.#store = store;
    this.#crash = crash;
    this.#failures = failures;
  }

  async start(): Promise<void> {}

  async stop(): Promise<void> {}

  async persist({ events, position }: Batch): Promise<Receipt> {
    if (events.some(({ body }) => body === "x")) throw new AgentError("POISON", "storing x");
    this.#store.rows.push(...events.map(({ body }) => body));
    this.#store.position = position;
    this.#crash?.abort();
    // A write that the store made but whose answer was lost with the process.
    if (this.#crash !== undefined) throw new AgentError("GONE", "the process is gone", { retryable: true });
    return { requestBytes: 0, responseBytes: 0 };
  }

  async storedPositions(): Promise<readonly string[]> {
    const failure = this.#failures.shift();
    if (failure !== undefined) throw failure;
    return this.#store.position === undefined ? [] : [this.#store.position];
  }
}

async function runner(context: TestContext, folder: string, sink: Sink) {
  const { log } = recordingLog();
  const { channel: files } = channelIn(folder);
  const channel = new CountedChannel(files);
  await channel.start();
  context.after(() => channel.stop(AbortSignal.abort()));
  const counters = new SinkCounters();
  const retry = { batchTtl: -1, batchRetryIntervals: [1] };
  const deadLetters = new DeadLetters(folder);
  const clock = { now: () => new Date(0) };
  const delivery = new SinkDelivery({ name: "s", sink, retry, deadLetters, counters, log, clock });
  const catchUp = catchUpOf({ keepers: [{ name: "s", sink }], gate: channel.gate, retry, log });
  const batching = { batchSize: 1, batchTimeout: 30 };
  return { channel, made: new SinkRunner({ channel, delivery, batching, counters, log, catchUp }) };
}

async function put(channel: CountedChannel, ...bodies: readonly string[]): Promise<void> {
  const transaction = channel.openPut();
  for (const body of bodies) transaction.put({ headers: {}, body } satisfies Event);
  await transaction.commit();
}

const patience = () => AbortSignal.timeout(10_000);

test("a crash between the commit of the store and that of the channel makes no second row", async (context) => {
  const folder = await tempFolder(context);
  const store: Store = { rows: [], position: undefined };
  const crash = new AbortController();
  const first = await runner(context, folder, new KeepingSink(store, crash));
  await put(first.channel, "a", "b", "c");
  first.made.start();
  await first.made.drain(crash.signal);
  await first.channel.stop(AbortSignal.abort());
  assert.deepEqual(store.rows, ["a", "b", "c"]);

  const second = await runner(context, folder, new KeepingSink(store));
  await put(second.channel, "d");
  second.made.start();
  await second.made.drain(patience());

  assert.deepEqual(store.rows, ["a", "b", "c", "d"]);
  assert.equal(second.channel.size, 0);
});

test("of a split batch each part keeps how far it is, the dead letter between them included", async (context) => {
  const folder = await tempFolder(context);
  const kept: (string | undefined)[] = [];
  const store: Store = { rows: [], position: undefined };
  const sink = new KeepingSink(store);
  const persist = sink.persist.bind(sink);
  sink.persist = async (batch) => {
    const receipt = await persist(batch);
    kept.push(batch.position);
    return receipt;
  };
  const { channel, made } = await runner(context, folder, sink);
  await put(channel, "a", "x", "c", "d");

  made.start();
  await made.drain(patience());

  assert.deepEqual(store.rows, ["a", "c", "d"]);
  const marks = kept.map((position) => Number(position?.split(":").at(-1)));
  assert.deepEqual(
    marks.map((mark) => mark - (marks[0] ?? 0)),
    [0, 3],
  );
});

test("nothing is delivered before the store could tell what it has", async (context) => {
  const folder = await tempFolder(context);
  const store: Store = { rows: [], position: undefined };
  const away = () => new AgentError("AWAY", "reading positions", { retryable: true });
  const { channel, made } = await runner(context, folder, new KeepingSink(store, undefined, [away(), away()]));
  await put(channel, "a");

  made.start();
  await new Promise<void>((resolve) => setImmediate(resolve));
  assert.deepEqual(store.rows, []);
  while (store.rows.length === 0) await new Promise((resolve) => setImmediate(resolve));
  await made.drain(patience());

  assert.deepEqual(store.rows, ["a"]);
});
