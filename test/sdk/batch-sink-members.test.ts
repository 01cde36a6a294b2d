import assert from "node:assert/strict";
import { test } from "node:test";
import {
  AgentError,
  type Batch,
  type BatchSinkParts,
  batchSink,
  codeOf,
  type Event,
  idOf,
  type Sink,
} from "../../core/sdk/index.js";
import { at } from "../support/position.js";

const never = new AbortController().signal;
const reset = () => new Error("reset by peer");

function eventsOf(text: string): readonly Event[] {
  return [...text].map((body) => ({ headers: {}, body }));
}

function textOf(events: readonly Event[]): string {
  return events.map(({ body }) => body).join("");
}

/** A store with transactions: rows and the texts of positions by channel. `fail` may throw before or after the commit. */
class Store {
  readonly rows: string[] = [];
  readonly kept = new Map<string, string>();
  readonly calls: string[] = [];
  fail: (moment: "before" | "after", write: number) => void = () => undefined;
  #writes = 0;
  #opened = 0;

  parts(owner?: string, more: Partial<BatchSinkParts<number>> = {}): BatchSinkParts<number> {
    const positions = owner === undefined ? {} : { positions: { owner, stored: async () => [...this.kept.values()] } };
    return {
      open: async () => {
        this.#opened += 1;
        this.calls.push(`open ${this.#opened}`);
        return this.#opened;
      },
      write: async (connection, events, _signal, { position }) => {
        this.#writes += 1;
        this.calls.push(`write ${textOf(events)} on ${connection}`);
        this.fail("before", this.#writes);
        if (position !== undefined) {
          if (this.kept.get(position.channel) !== position.before) throw position.conflict();
          this.kept.set(position.channel, position.text);
        }
        this.rows.push(textOf(events));
        this.fail("after", this.#writes);
        return undefined;
      },
      close: async () => undefined,
      ...positions,
      ...more,
    };
  }
}

/** Throws at one moment of one write. */
function failingOnce(moment: "before" | "after", write: number, error: () => Error = reset): Store["fail"] {
  return (at, number) => {
    if (at === moment && number === write) throw error();
  };
}

const abcd = eventsOf("abcd");

function upTo(count: number, from = 0): Batch {
  return { events: abcd.slice(from, count), position: at(`c:${count}`, abcd) };
}

test("a sink of three functions has no further members", () => {
  const sink = batchSink(new Store().parts());

  assert.deepEqual([sink.positions, sink.tuning, sink.answers], [undefined, undefined, undefined]);
});

test("size and linger of batches are handed on", () => {
  const tuning = { largestBatch: 5000, batchLinger: 3 };

  assert.deepEqual(batchSink(new Store().parts("me", { tuning })).tuning, tuning);
});

for (const moment of ["before", "after"] as const)
  test(`over a connection that breaks ${moment} the commit a batch with a position is stored once, in the same call`, async () => {
    const store = new Store();
    store.fail = failingOnce(moment, 2);
    const sink = batchSink(store.parts("me"));

    await sink.positions?.stored?.(never);
    await sink.persist(upTo(2), never);
    await sink.persist(upTo(4, 2), never);

    assert.deepEqual(store.rows, ["ab", "cd"]);
    assert.deepEqual([...store.kept], [["c", "c:4 me"]]);
  });

test("what a part of a batch stored is left out of the whole one", async () => {
  const store = new Store();
  store.kept.set("c", "c:3 the-run-before");
  const sink = batchSink(store.parts("me"));

  const before = await sink.positions?.stored?.(never);
  await sink.persist(upTo(4), never);

  assert.deepEqual([before, store.rows, [...store.kept.values()]], [["c:3"], ["d"], ["c:4 me"]]);
});

test("of a batch whose answer was lost the events are known to be stored", async () => {
  const store = new Store();
  store.fail = failingOnce("after", 1);
  const sink = batchSink(store.parts("me"));
  await assert.rejects(sink.persist(upTo(3), never));

  const stored = await sink.positions?.alreadyStored?.(upTo(4), never);

  assert.equal(textOf(stored ?? []), "abc");
});

test("of two agents with one channel the later one stores nothing, also after a failure, until the position is deleted", async () => {
  const store = new Store();
  const [first, second] = [batchSink(store.parts("one")), batchSink(store.parts("two"))];
  for (const sink of [first, second]) await sink.positions?.stored?.(never);
  await first.persist(upTo(1), never);
  const isConflict = (error: unknown) => codeOf(error) === "POSITION_CONFLICT" && String(error).includes('"one"');

  await assert.rejects(second.persist(upTo(1), never), isConflict);
  await assert.rejects(second.persist(upTo(1), never), isConflict);
  await first.persist(upTo(2, 1), never);
  store.kept.clear();
  await second.persist(upTo(4), never);

  assert.deepEqual(store.rows, ["a", "b", "abcd"]);
});

interface Repetition {
  readonly says: string;
  readonly owner?: string;
  readonly more?: Partial<BatchSinkParts<number>>;
  readonly error?: () => Error;
  readonly batch?: Batch;
  readonly repeated: boolean;
}

const [lone] = abcd;
const withoutPosition: Batch = { events: lone === undefined ? [] : [lone] };
const repetitions: readonly Repetition[] = [
  { says: "a position", owner: "me", repeated: true },
  { says: "positions behind a channel that forgets", owner: "me", batch: withoutPosition, repeated: false },
  { says: "nothing that tells what is stored", batch: withoutPosition, repeated: false },
  {
    says: "an error after which nothing is stored",
    batch: withoutPosition,
    more: { mayRepeat: (error) => String(error).includes("peer") },
    repeated: true,
  },
  { says: "an error that may not be repeated", owner: "me", more: { mayRepeat: () => false }, repeated: false },
  {
    says: "a store that asks to wait",
    owner: "me",
    error: () => new AgentError("BUSY", "busy", { retryable: true, retryAfter: 1 }),
    repeated: false,
  },
  {
    says: "data that never goes in",
    owner: "me",
    error: () => new AgentError("BAD", "bad", { retryable: false }),
    repeated: false,
  },
  {
    says: "named events",
    owner: "me",
    error: () => new AgentError("SOME", "some", { retryable: true, events: abcd }),
    repeated: false,
  },
];

for (const { says, owner, more = {}, error = reset, batch = upTo(2, 1), repeated } of repetitions)
  test(`with ${says} a write over a connection that worked is ${repeated ? "repeated once" : "not repeated"}`, async () => {
    const store = new Store();
    const sink = batchSink(store.parts(owner, more));
    await sink.persist(batch.position === undefined ? withoutPosition : upTo(1), never);
    store.fail = (moment) => {
      if (moment === "before") throw error();
    };

    await assert.rejects(sink.persist(batch, never));

    assert.equal(store.calls.filter((call) => call.startsWith("write")).length, repeated ? 3 : 2);
  });

test("a write over a new connection is not repeated", async () => {
  const store = new Store();
  store.fail = failingOnce("before", 1);
  const sink = batchSink(store.parts(undefined, { mayRepeat: () => true }));

  await assert.rejects(sink.persist(withoutPosition, never));

  assert.deepEqual(store.calls, ["open 1", "write a on 1"]);
});

test("a connection is abandoned when the signal aborts, and an answer that never comes is not waited for", async () => {
  const abandoned: number[] = [];
  let opened = 0;
  const sink: Sink = batchSink<number>({
    open: async () => {
      opened += 1;
      return opened;
    },
    write: async (connection) => (connection === 1 ? await new Promise(() => undefined) : undefined),
    close: async () => undefined,
    abandon: (connection) => {
      abandoned.push(connection);
      throw new Error("closed already");
    },
  });
  const ending = new AbortController();
  const written = sink.persist(withoutPosition, ending.signal);
  await new Promise(setImmediate);

  ending.abort();

  await assert.rejects(written, (error) => codeOf(error) === "WRITE_ABORTED");
  await sink.persist(withoutPosition, never);
  await sink.stop(never);
  assert.deepEqual(abandoned, [1]);
});

test("a connection that opens after its signal aborted is abandoned", async () => {
  const abandoned: string[] = [];
  let open: (connection: string) => void = () => undefined;
  const sink = batchSink<string>({
    open: () =>
      new Promise((resolve) => {
        open = resolve;
      }),
    write: async () => undefined,
    close: async () => undefined,
    abandon: (connection) => abandoned.push(connection),
  });
  const ending = new AbortController();
  const written = sink.persist(withoutPosition, ending.signal);
  await new Promise(setImmediate);

  ending.abort();
  await assert.rejects(written, (error) => codeOf(error) === "WRITE_ABORTED");
  open("late");
  await new Promise(setImmediate);

  assert.deepEqual(abandoned, ["late"]);
});

test("the store is asked over a connection of its own, with what the client threw", async () => {
  const store = new Store();
  store.fail = failingOnce("before", 1);
  const asked: string[] = [];
  const sink = batchSink(
    store.parts(undefined, {
      answers: async (connection, error) => {
        asked.push(`${connection} ${error}`);
        return true;
      },
    }),
  );
  const failure = await sink.persist(withoutPosition, never).catch((error: unknown) => error);

  const answer = await sink.answers?.(failure, never);

  assert.deepEqual([answer, asked], [true, ["2 Error: reset by peer"]]);
});

test("a store that knows ids tells what is stored, and an id is the same in every write", async () => {
  const ids: string[] = [];
  const sink = batchSink<number>({
    open: async () => 1,
    write: async (_connection, events, _signal, about) => {
      ids.push(...events.map((event) => about.idOf(event)));
      return undefined;
    },
    close: async () => undefined,
    alreadyStored: async (_connection, batch) => batch.events.filter((event) => ids.includes(idOf(batch, event))),
  });

  for (const count of [2, 4]) await sink.persist({ events: abcd.slice(0, count) }, never);
  const stored = await sink.positions?.alreadyStored?.({ events: abcd }, never);

  assert.deepEqual([new Set(ids).size, ids.slice(0, 2)], [4, ids.slice(2, 4)]);
  assert.equal(sink.positions?.stored, undefined);
  assert.equal(textOf(stored ?? []), "abcd");
});

test("a write knows the traceparent of its batch", async () => {
  const known: unknown[] = [];
  const sink = batchSink<number>({
    open: async () => 1,
    write: async (_connection, _events, _signal, { traceparent }) => {
      known.push(traceparent);
      return undefined;
    },
    close: async () => undefined,
  });

  await sink.persist({ events: abcd, traceparent: "00-a-b-01" }, never);
  await sink.persist({ events: abcd }, never);

  assert.deepEqual(known, ["00-a-b-01", undefined]);
});
