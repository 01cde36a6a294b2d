import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, get, type IncomingMessage } from "node:http";
import { type TestContext, test } from "node:test";
import express from "express";
import { LiveStream, MOST_LISTENERS } from "../../../core/management/live/live-stream.js";
import { recordingLog } from "../../support/recording-log.js";
import { until } from "../../support/until.js";

const filler = "x".repeat(1_000_000);

/** A stream of a document of a million characters that changes at each look, over HTTP. */
async function streaming(context: TestContext) {
  let looks = 0;
  let now = 0;
  let fails = false;
  const watch = () => () => {
    looks += 1;
    if (fails) throw new Error("no size today");
    return { time: String(looks), filler: `${looks}${filler}` };
  };
  const { log, lines } = recordingLog();
  const stream = new LiveStream({ source: { revision: 1, watch }, log, uptime: () => now });
  const app = express();
  app.get("/", (_request, response) => {
    if (!stream.add(response)) response.status(503).end();
  });
  const server = createServer(app).listen(0, "127.0.0.1");
  context.after(() => {
    stream.end();
    server.closeAllConnections();
    server.close();
  });
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  const open = async (): Promise<IncomingMessage> => {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      get({ host: "127.0.0.1", port, agent: false }, resolve).on("error", reject);
    });
    context.after(() => response.destroy());
    return response;
  };
  const pass = (milliseconds: number) => {
    now += milliseconds;
  };
  const fail = () => {
    fails = true;
  };
  return { stream, open, pass, fail, lines, looks: () => looks };
}

/** Ticks until every buffer of a listener that does not read is full; the given one reads. */
async function fillBuffers(stream: LiveStream, reading: IncomingMessage): Promise<void> {
  let received = 0;
  reading.on("data", (chunk: Buffer) => {
    received += chunk.length;
  });
  for (let n = 0; n < MANY; n += 1) {
    const before = received;
    stream.tick();
    await until(
      async () => received,
      (now) => now > before,
    );
  }
}

/** More ticks than the buffers of the operating system and of the listener take. */
const MANY = 40;

test("a listener that does not read is left out, and gets the whole document when it has read", async (context) => {
  const { stream, open, looks } = await streaming(context);
  const slow = await open();
  for (let n = 0; n < MANY; n += 1) stream.tick();
  const texts: string[] = [];
  slow.setEncoding("utf8").on("data", (text: string) => texts.push(text.replaceAll("x", "")));

  const names = await until(
    async () => {
      stream.tick();
      return [...texts.join("").matchAll(/^event: (\w+)$/gm)].map(([, name]) => name);
    },
    (events) => events.lastIndexOf("snapshot") > 0,
  );

  assert.equal(names[0], "snapshot");
  assert.ok(names.includes("change"));
  assert.ok(names.length < looks());
});

test("a listener that does not read for half a minute is disconnected, and the others stay", async (context) => {
  const { stream, open, pass } = await streaming(context);
  const deaf = await open();
  deaf.pause();
  const reading = await open();
  await fillBuffers(stream, reading);

  pass(31_000);
  stream.tick();

  assert.equal(stream.listeners, 1);
});

test("where there is no room, a listener that does not read gives way to a new one", async (context) => {
  const { stream, open } = await streaming(context);
  const deaf = await open();
  deaf.pause();
  await fillBuffers(stream, await open());
  for (let n = 2; n < MOST_LISTENERS; n += 1) (await open()).resume();

  const another = await open();
  another.resume();
  const beyond = await open();

  assert.deepEqual([another.statusCode, beyond.statusCode, stream.listeners], [200, 503, MOST_LISTENERS]);
});

test("a component that cannot be looked at ends the streams and not the process", async (context) => {
  const { stream, open, fail, lines } = await streaming(context);
  const listener = await open();
  listener.resume();
  listener.on("error", () => {});
  const closed = new Promise((resolve) => listener.once("close", resolve));

  fail();
  await closed;

  assert.deepEqual([stream.listeners, stream.isLooking], [0, false]);
  assert.match(JSON.stringify(lines), /no size today/);
});
