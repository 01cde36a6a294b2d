import assert from "node:assert/strict";
import { test } from "node:test";
import { AgentError, type BatchSinkParts, batchSink, type Event } from "../../core/sdk/index.js";

const never = new AbortController().signal;

function batch(...bodies: readonly number[]) {
  return { events: bodies.map((body) => ({ headers: {}, body })) };
}

function bodies(events: readonly Event[]): string {
  return events.map(({ body }) => body).join(" ");
}

/** A sink whose writes do what `write` says, and the list of what was called. */
function recorded(write: (call: number) => Promise<undefined> | undefined = () => undefined) {
  const calls: string[] = [];
  let opened = 0;
  let written = 0;
  const parts: BatchSinkParts<number> = {
    open: async () => {
      opened += 1;
      calls.push(`open ${opened}`);
      return opened;
    },
    write: async (connection, events) => {
      written += 1;
      calls.push(`write ${bodies(events)} on ${connection}`);
      return await write(written);
    },
    close: async (connection) => {
      calls.push(`close ${connection}`);
    },
  };
  return { calls, sink: batchSink(parts) };
}

test("it connects at the first write, once, and closes at stop, once", async () => {
  const { calls, sink } = recorded();

  await sink.start();
  await sink.persist(batch(1), never);
  const receipt = await sink.persist(batch(2, 3), never);
  await sink.stop(never);
  await sink.stop(never);

  assert.deepEqual(calls, ["open 1", "write 1 on 1", "write 2 3 on 1", "close 1"]);
  assert.deepEqual(receipt, { requestBytes: 0, responseBytes: 0 });
});

test("stop before start calls nothing", async () => {
  const { calls, sink } = recorded();

  await sink.stop(never);

  assert.deepEqual(calls, []);
});

test("an error that does not say what it is means that the store is away, and the next write connects anew", async () => {
  const { calls, sink } = recorded((call) => {
    if (call === 1) throw new Error("reset by peer");
    return undefined;
  });
  await sink.start();

  await assert.rejects(sink.persist(batch(1), never), (error) => {
    assert.ok(error instanceof AgentError && error.cause instanceof Error);
    return error.retryable && error.cause.message === "reset by peer";
  });
  await sink.persist(batch(1), never);

  assert.deepEqual(calls, ["open 1", "write 1 on 1", "close 1", "open 2", "write 1 on 2"]);
});

test("data that will never go in does not end the connection", async () => {
  const refusal = new AgentError("NOT_A_NUMBER", "storing an event", { retryable: false });
  const { calls, sink } = recorded((call) => {
    if (call === 1) throw refusal;
    return undefined;
  });
  await sink.start();

  await assert.rejects(sink.persist(batch(1), never), refusal);
  await sink.persist(batch(2), never);

  assert.deepEqual(calls, ["open 1", "write 1 on 1", "write 2 on 1"]);
});

test("writes that come at once go one after another, and stop waits for them", async () => {
  let release: (value: undefined) => void = () => undefined;
  const held = new Promise<undefined>((resolve) => {
    release = resolve;
  });
  const { calls, sink } = recorded((call) => (call === 1 ? held : undefined));
  await sink.start();
  const writes = [sink.persist(batch(1), never), sink.persist(batch(2), never)];
  while (calls.length < 2) await new Promise(setImmediate);

  assert.deepEqual(calls, ["open 1", "write 1 on 1"]);
  release(undefined);
  await Promise.all(writes);
  await sink.stop(never);

  assert.deepEqual(calls.slice(2), ["write 2 on 1", "close 1"]);
});

test("a write that hangs sees the signal of stop", async () => {
  const sink = batchSink({
    open: async () => 1,
    write: (_connection, _events, signal) =>
      new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("given up")))),
    close: async () => undefined,
  });
  await sink.start();
  const write = assert.rejects(sink.persist(batch(1), never), /writing to the store/);
  await new Promise(setImmediate);

  await sink.stop(AbortSignal.abort());

  await write;
});
