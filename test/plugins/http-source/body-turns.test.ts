import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { acceptedAtOnce, type Reception } from "../../../core/sdk/index.js";
import type { HttpRequest } from "../../../plugins/http-source/http-request.js";
import { BodyTurns, Responder } from "../../../plugins/http-source/responder.js";
import { recordingLog } from "../../support/recording-log.js";
import { httpConfig, receivedAt } from "./running-source.js";

/** Requests of a source whose process has heap for bodies of 100 bytes, and a channel that takes their events later. */
function servedWithHeapFor100Bytes() {
  const decoded: string[] = [];
  const answered: string[] = [];
  const waiting: (() => void)[] = [];
  const receive = ({ path, body }: Pick<HttpRequest, "path" | "body">): Promise<Reception> => {
    decoded.push(`${path} ${body.byteLength}`);
    if (path === "/at-once") return acceptedAtOnce;
    return new Promise((resolve) => waiting.push(() => resolve({ accepted: true })));
  };
  const { log } = recordingLog();
  const context = { name: "http-source", log, now: () => receivedAt, receive, refused: () => undefined };
  const responder = new Responder(httpConfig, context, new BodyTurns(100));
  const serve = (path: string, bytes: number, isGone = () => false) =>
    responder.serve({
      method: "POST",
      path,
      headers: {},
      body: new Uint8Array(bytes),
      get isGone() {
        return isGone();
      },
      accept: () => answered.push(path),
      refuse: () => 0,
      destroy: () => undefined,
    });
  /** The channel takes the events of the request that waits longest. */
  const take = async () => {
    waiting.shift()?.();
    for (let turn = 0; turn < 5; turn += 1) await setImmediate();
  };
  return { responder, serve, take, decoded, answered };
}

test("bodies are decoded as far as the heap has room for their events, and then in the order in which they came", async () => {
  const { serve, take, decoded, answered } = servedWithHeapFor100Bytes();

  serve("/a", 60);
  serve("/b", 60);
  serve("/c", 1);
  const first = [...decoded];
  await take();
  const second = [...decoded];
  await take();
  await take();

  assert.deepEqual(first, ["/a 60"]);
  assert.deepEqual(second, ["/a 60", "/b 60", "/c 1"]);
  assert.deepEqual(answered, ["/a", "/b", "/c"]);
});

test("a body beyond the room of the heap is decoded alone", async () => {
  const { serve, take, decoded } = servedWithHeapFor100Bytes();

  serve("/large", 1000);
  serve("/small", 1);
  const first = [...decoded];
  await take();

  assert.deepEqual(first, ["/large 1000"]);
  assert.deepEqual(decoded, ["/large 1000", "/small 1"]);
});

test("a body whose sender leaves while it waits for its turn is not decoded", async () => {
  const { responder, serve, take, decoded, answered } = servedWithHeapFor100Bytes();
  let isGone = false;

  serve("/a", 100);
  serve("/b", 100, () => isGone);
  serve("/at-once", 100);
  isGone = true;
  await take();
  await responder.untilIdle(AbortSignal.timeout(10_000));

  assert.deepEqual(decoded, ["/a 100", "/at-once 100"]);
  assert.deepEqual(answered, ["/a", "/at-once"]);
});
