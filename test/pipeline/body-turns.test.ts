import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { DecodedBytes } from "../../core/pipeline/body-turns.js";
import { Receiver } from "../../core/pipeline/receiver.js";
import type { Handler } from "../../core/sdk/index.js";
import { recordingLog } from "../support/recording-log.js";

const LARGE = 65_536;
const receivedAt = new Date("2026-01-15T10:20:30.000Z");
const handler: Handler = {
  decode: ({ path }) => ({ events: [{ headers: {}, body: path }], service: "openiot", servicePath: "/" }),
};

/** Sources of a process whose heap has room for small bodies of 100 bytes and for two large ones, and channels that take their events later. */
function receiving() {
  const room = { small: new DecodedBytes(100), large: new DecodedBytes(2 * LARGE) };
  const decoded: string[] = [];
  const answered: string[] = [];
  const puts: (() => void)[] = [];
  const { log } = recordingLog();
  const emit = (events: readonly { readonly body?: unknown }[]) => {
    decoded.push(...events.map(({ body }) => String(body)));
    return new Promise<void>((resolve) => void puts.push(resolve));
  };
  const observer = { received: () => undefined };
  const sourceOf = (name: string) => new Receiver({ name, log, observer, emit, handler, now: () => receivedAt, room });
  const sources = { one: sourceOf("one"), other: sourceOf("other") };
  const send = (
    path: string,
    bytes: number,
    { to = "one" as keyof typeof sources, connection = { isGone: false } } = {},
  ) => {
    const body = new Uint8Array(bytes);
    const reception = sources[to].receive({ method: "POST", path, headers: {}, body, receivedAt, connection });
    void reception.then(({ accepted }) => answered.push(`${path} ${accepted}`));
  };
  /** The channels take the events that wait longest. */
  const take = async () => {
    puts.shift()?.();
    await turn();
  };
  return { send, take, decoded, answered };
}

async function turn(): Promise<void> {
  for (let count = 0; count < 3; count += 1) await setImmediate();
}

test("bodies are decoded as far as the heap has room for their events, and then in the order in which they came", async () => {
  const { send, take, decoded, answered } = receiving();

  send("/a", 60);
  send("/b", 60);
  send("/c", 1);
  const first = [...decoded];
  await take();
  const second = [...decoded];
  await take();
  await take();

  assert.deepEqual(first, ["/a"]);
  assert.deepEqual(second, ["/a", "/b", "/c"]);
  assert.deepEqual(answered, ["/a true", "/b true", "/c true"]);
});

test("a body beyond the room of the heap is decoded alone among the large ones", async () => {
  const { send, take, decoded } = receiving();

  send("/larger", 3 * LARGE);
  send("/large", LARGE);
  await turn();
  const first = [...decoded];
  await take();

  assert.deepEqual(first, ["/larger"]);
  assert.deepEqual(decoded, ["/larger", "/large"]);
});

test("sources share the room of the heap, but one that waits for its channel does not stop another one", async () => {
  const { send, take, decoded } = receiving();

  send("/a", 100);
  send("/b", 60, { to: "other" });
  send("/c", 30, { to: "other" });
  const first = [...decoded];
  await take();

  assert.deepEqual(first, ["/a", "/b"]);
  assert.deepEqual(decoded, ["/a", "/b", "/c"]);
});

test("a large body that waits for a channel holds up no small one", async () => {
  const { send, decoded } = receiving();

  send("/larger", 3 * LARGE);
  send("/small", 100);
  send("/waits", 1);
  await turn();

  assert.deepEqual(decoded, ["/larger", "/small"]);
});

test("between two large bodies the event loop goes on", async () => {
  const { send, decoded } = receiving();

  send("/a", LARGE);
  send("/b", LARGE);
  const first = [...decoded];
  await turn();

  assert.deepEqual(first, ["/a"]);
  assert.deepEqual(decoded, ["/a", "/b"]);
});

test("a body whose sender leaves while it waits for its turn is not decoded", async () => {
  const { send, take, decoded, answered } = receiving();
  const connection = { isGone: false };

  send("/a", 100);
  send("/b", 100, { connection });
  send("/c", 100);
  connection.isGone = true;
  await take();
  await take();

  assert.deepEqual(decoded, ["/a", "/c"]);
  assert.deepEqual(answered.toSorted(), ["/a true", "/b false", "/c true"]);
});
