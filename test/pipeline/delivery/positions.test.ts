import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { DeadLetters } from "../../../core/pipeline/dead-letters/dead-letters.js";
import { AgentError, type Batch, type Receipt, type Sink } from "../../../core/sdk/index.js";
import { channelIn } from "../../plugins/file-channel/channel-folder.js";
import { feedOf, put } from "../../support/delivering.js";
import { recordingLog } from "../../support/recording-log.js";
import { tempFolder } from "../../support/temp-folder.js";

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
    if (events.some(({ body }) => body === "x")) throw new AgentError("POISON", "storing x", { retryable: false });
    this.#store.rows.push(...events.map(({ body }) => body));
    this.#store.position = position?.text;
    this.#crash?.abort();
    // A write that the store made but whose answer was lost with the process.
    if (this.#crash !== undefined) throw new AgentError("GONE", "the process is gone", { retryable: true });
    return { requestBytes: 0, responseBytes: 0 };
  }

  readonly positions = {
    stored: async (): Promise<readonly string[]> => {
      const failure = this.#failures.shift();
      if (failure !== undefined) throw failure;
      return this.#store.position === undefined ? [] : [this.#store.position];
    },
  };
}

async function setUp(context: TestContext, folder: string, sink: Sink) {
  const { log } = recordingLog();
  const { channel: files } = channelIn(folder);
  const deadLetters = new DeadLetters(folder);
  const { feed, outlet } = feedOf({
    channel: files,
    sink,
    retry: { batchTtl: -1, batchRetryIntervals: [1] },
    deadLetters,
    log,
  });
  await outlet.channel.start();
  context.after(() => outlet.channel.stop(AbortSignal.abort()));
  return { channel: outlet.channel, made: feed };
}

const patience = () => AbortSignal.timeout(10_000);

test("a crash between the commit of the store and that of the channel makes no second row", async (context) => {
  const folder = await tempFolder(context);
  const store: Store = { rows: [], position: undefined };
  const crash = new AbortController();
  const first = await setUp(context, folder, new KeepingSink(store, crash));
  await put(first.channel, "a", "b", "c");
  first.made.start();
  await first.made.drain(crash.signal);
  await first.channel.stop(AbortSignal.abort());
  assert.deepEqual(store.rows, ["a", "b", "c"]);

  const second = await setUp(context, folder, new KeepingSink(store));
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
    kept.push(batch.position?.text);
    return receipt;
  };
  const { channel, made } = await setUp(context, folder, sink);
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
  const { channel, made } = await setUp(context, folder, new KeepingSink(store, undefined, [away(), away()]));
  await put(channel, "a");

  made.start();
  await new Promise<void>((resolve) => setImmediate(resolve));
  assert.deepEqual(store.rows, []);
  while (store.rows.length === 0) await new Promise((resolve) => setImmediate(resolve));
  await made.drain(patience());

  assert.deepEqual(store.rows, ["a"]);
});
