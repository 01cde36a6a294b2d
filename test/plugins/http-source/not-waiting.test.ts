import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { connect as connectTls } from "node:tls";
import { isEntity } from "../../../core/ngsi/index.js";
import type { Event } from "../../../core/sdk/index.js";
import { until } from "../../support/until.js";
import { notification, send } from "./http-client.js";
import { post, RawConnection } from "./raw-connection.js";
import { runningSource } from "./running-source.js";
import { sendOverTls, tlsFiles } from "./tls-client.js";

const about = (id: string) => notification.replace("urn:e:1", id);
const idsOf = (events: readonly Event[]) => events.map(({ body }) => (isEntity(body) ? body.id : ""));
const chunked = (body: string) =>
  "POST /notify HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n" +
  `${Buffer.byteLength(body).toString(16)}\r\n${body}\r\n0\r\n\r\n`;
const accepted = (responses: string) => responses.match(/^HTTP\/1.1 200 OK/gm)?.length ?? 0;

/** An emit whose calls wait, each until it is let go. */
function held() {
  const calls: (() => void)[] = [];
  const emit = () => new Promise<void>((resolve) => calls.push(resolve));
  const begun = (number: number) =>
    until(
      async () => calls.length,
      (length) => length >= number,
    );
  return { emit, calls, begun };
}

async function overTls(context: TestContext, port: number, ca: string): Promise<RawConnection> {
  const socket = connectTls({ port, host: "127.0.0.1", ca });
  socket.allowHalfOpen = true;
  context.after(() => socket.destroy());
  await once(socket, "secureConnect");
  return new RawConnection(socket);
}

const ids = (count: number) => Array.from({ length: count }, (_, at) => `e${at}`);

const ended = [
  { what: "one request", requests: [post(about("e0"))] },
  { what: "one request in chunks", requests: [chunked(about("e0"))] },
  { what: "one request of HTTP/1.0", requests: [post(about("e0")).replace("HTTP/1.1", "HTTP/1.0")] },
  { what: "several requests", requests: [post(about("e0")), post(about("e1")), chunked(about("e2"))] },
] as const;

for (const { what, requests } of ended)
  for (const over of ["TCP", "TLS"]) {
    test(`a sender that sends ${what} over ${over} and ends its side gets every response`, async (context) => {
      const { config, server } = await tlsFiles(context);
      const { emit, calls, begun } = held();
      const { port, emitted } = await runningSource(context, { emit, config: over === "TLS" ? config : {} });
      const connection =
        over === "TLS" ? await overTls(context, port, server.cert) : await RawConnection.open(context, port);

      connection.send(requests.join(""));
      connection.finish();
      for (let at = 0; at < requests.length; at += 1) {
        await begun(at + 1);
        // The end of the first sender has arrived before the request of a later one.
        if (over === "TLS") await sendOverTls(port, { ca: server.cert, path: "/other" });
        else await send(port, { path: "/other" });
        calls[at]?.();
      }

      assert.equal(accepted(await connection.untilClosed()), requests.length);
      assert.deepEqual(idsOf(emitted), ids(requests.length));
    });
  }

const half = post("{}").slice(0, 30);
const tunnel = "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n";

const broken = [
  { what: "what is not HTTP", text: "HELLO\r\n\r\n", status: 400 },
  { what: "headers that are too large", text: post("{}", `X: ${"x".repeat(20_000)}`), status: 431 },
  { what: "a body that is not as announced", text: chunked("{}").replace("\r\n2\r\n", "\r\nZ\r\n"), status: 400 },
  { what: "half a request", text: half, status: 400 },
  { what: "CONNECT", text: tunnel, status: 405 },
] as const;

for (const { what, text, status } of broken)
  test(`${what} behind requests is answered ${status} after the responses to these`, async (context) => {
    const { emit, calls, begun } = held();
    const { port, emitted, refused } = await runningSource(context, { emit });
    const connection = await RawConnection.open(context, port);

    connection.send([chunked(about("e0")), chunked(about("e1")), text].join(""));
    if (text === half) connection.finish();
    for (const at of [0, 1]) {
      await begun(at + 1);
      await send(port, { path: "/other" });
      calls[at]?.();
    }
    const responses = await connection.untilClosed();

    assert.deepEqual(
      [...responses.matchAll(/^HTTP\/1.1 (\d+)/gm)].map(([, code]) => Number(code)),
      [200, 200, status],
    );
    assert.deepEqual(idsOf(emitted), ids(2));
    assert.equal(refused.at(-1)?.status, status);
  });

test("a stop closes the connection of a sender that asks for a tunnel behind a request that waits", async (context) => {
  const { emit, begun } = held();
  const { port, source } = await runningSource(context, { emit });
  const connection = await RawConnection.open(context, port);

  connection.send(chunked(about("e0")) + tunnel);
  await begun(1);
  await send(port, { path: "/other" });
  await source.stop(AbortSignal.abort());

  assert.equal(await connection.untilClosed(), "");
});

test("nothing is stored of what is sent behind a request whose refusal closes the connection", async (context) => {
  const { port, emitted } = await runningSource(context, { config: { token: ["t"] } });
  const connection = await RawConnection.open(context, port);
  const withToken = chunked(about("e1")).replace("Host: a", "Host: a\r\nX-Auth-Token: t");

  connection.send(chunked(about("e0")) + withToken.repeat(3));
  const responses = await connection.untilClosed();
  await send(port, { path: "/other" });

  assert.deepEqual(responses.match(/^HTTP\/1.1 \d+/gm), ["HTTP/1.1 401"]);
  assert.deepEqual(emitted, []);
});

const tooLong = chunked(about("e1") + " ".repeat(40_000));

test("nothing is stored of what is sent behind a body that is refused while it arrives", async (context) => {
  const { emit, calls, begun } = held();
  const { port, emitted } = await runningSource(context, { emit, config: { max_body_size: 20_000 } });
  const connection = await RawConnection.open(context, port);

  connection.send(chunked(about("e0")) + tooLong.slice(0, 30_000));
  await begun(1);
  calls[0]?.();
  await connection.receivedText("larger than 20000 bytes");
  // The last ones are read when the connection is about to be closed.
  connection.send(tooLong.slice(30_000) + chunked(about("e2")).repeat(20));
  const responses = await connection.untilClosed();
  await send(port, { path: "/other" });

  assert.deepEqual(responses.match(/^HTTP\/1.1 \d+/gm), ["HTTP/1.1 200", "HTTP/1.1 413"]);
  assert.deepEqual(idsOf(emitted), ids(1));
});

const answeredEarly = [
  { what: "a body that is too large", text: tooLong.slice(0, 30_000), status: 413 },
  { what: "the body of a PUT", text: chunked("{}").replace("POST", "PUT").slice(0, -5), status: 405 },
] as const;

for (const { what, text, status } of answeredEarly)
  for (const end of ["is not as announced", "does not end"]) {
    test(`a request has one response where ${what} ${end} after it`, async (context) => {
      const { port, refused } = await runningSource(context, { config: { max_body_size: 20_000 } });
      const connection = await RawConnection.open(context, port);

      connection.send(text);
      await connection.receivedText("}");
      if (end === "does not end") connection.finish();
      else connection.send(`${" ".repeat(40_000)}\r\nZ\r\n`);
      const responses = await connection.untilClosed();

      assert.deepEqual(responses.match(/^HTTP\/1.1 \d+/gm), [`HTTP/1.1 ${status}`]);
      assert.deepEqual(
        refused.map((one) => one.status),
        [status],
      );
    });
  }

test("the requests of a sender that does not wait are served one after another, and each gets its response", async (context) => {
  const { emit, calls, begun } = held();
  const { port, emitted } = await runningSource(context, { emit });
  const connection = await RawConnection.open(context, port);
  const all = ids(200);

  connection.send(all.map((id) => chunked(about(id))).join(""));
  await begun(1);
  await send(port, { path: "/other" });
  const atOnce = emitted.length;
  const letGo = setInterval(() => calls.shift()?.(), 1);
  context.after(() => clearInterval(letGo));
  const responses = await connection.received(all.length);

  assert.equal(atOnce, 1);
  assert.equal(accepted(responses), all.length);
  assert.deepEqual(idsOf(emitted), all);
});

test("the refusals of a sender that does not wait leave turns of the event loop to others", async (context) => {
  const { port, refused } = await runningSource(context);
  const connection = await RawConnection.open(context, port);
  const inTurns: number[] = [];
  let looking = true;
  let before = 0;
  const look = () => {
    inTurns.push(refused.length - before);
    before = refused.length;
    if (looking) setImmediate(look);
  };
  setImmediate(look);

  connection.send(post("").replace("/notify", "/other").repeat(300));
  await until(
    async () => refused.length,
    (length) => length === 300,
  );
  looking = false;

  // The first two: the connection goes to Node's parser with the second one.
  assert.ok(Math.max(...inTurns) <= 2, `${Math.max(...inTurns)} in one turn`);
});

test("a sender that does not wait and goes away leaves the room of its bodies to others", async (context) => {
  const { emit, calls, begun } = held();
  const config = { max_bytes_in_flight: 100_000, max_body_size: 50_000 };
  const { port, refused } = await runningSource(context, { config, emit });
  const large = about("e0") + " ".repeat(20_000);

  for (let turn = 1; turn <= 3; turn += 1) {
    const connection = await RawConnection.open(context, port);
    connection.send(chunked(large).repeat(3));
    await begun(turn);
    connection.reset();
    await connection.untilClosed();
    await send(port, { path: "/other" });
  }
  for (const letGo of calls) letGo();
  const later = await RawConnection.open(context, port);
  later.send(chunked(large).repeat(3));
  const lettingGo = setInterval(() => calls.shift()?.(), 1);
  context.after(() => clearInterval(lettingGo));

  assert.equal(accepted(await later.received(3)), 3);
  assert.deepEqual(new Set(refused.map(({ status }) => status)), new Set([400]));
});

/** A connection that reads nothing, and has sent more than it gets responses for. */
async function unread(context: TestContext, port: number, accounted: readonly unknown[]): Promise<Socket> {
  const socket = connect(port, "127.0.0.1").pause();
  context.after(() => socket.destroy());
  socket.on("error", () => undefined);
  // Its refusals repeat the path: together more than the system keeps for a receiver.
  socket.write(
    post("", "")
      .replace("/notify", `/${"x".repeat(15_000)}`)
      .repeat(3000),
  );
  let looks: readonly number[] = [];
  await until(
    async () => {
      looks = [accounted.length, ...looks].slice(0, 20);
      return looks;
    },
    ([last = 0, ...before]) => last > 0 && before.length === 19 && before.every((count) => count === last),
  );
  return socket;
}

test("a sender that does not read its responses does not hold up a stop", async (context) => {
  const { port, source, accounted } = await runningSource(context);
  await unread(context, port, accounted);

  const grace = AbortSignal.timeout(30_000);
  await source.stop(grace);

  assert.ok(accounted.length < 3000);
  assert.ok(!grace.aborted);
});

test("a sender that does not read its responses is disconnected after the time of an idle connection", async (context) => {
  const { port, accounted } = await runningSource(context, { config: { keep_alive_timeout: 1 } });
  const socket = await unread(context, port, accounted);

  // What is not taken by the other side fails when the connection is closed.
  await until(
    async () => socket.write("x".repeat(1_000_000)) || socket.destroyed,
    () => socket.destroyed,
  );

  assert.ok(accounted.length < 3000);
});
