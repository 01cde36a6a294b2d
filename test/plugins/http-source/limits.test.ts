import assert from "node:assert/strict";
import { test } from "node:test";
import { notification, send } from "./http-client.js";
import { post, RawConnection } from "./raw-connection.js";
import { httpConfig, runningSource } from "./running-source.js";

const MOST = httpConfig.max_body_size;
/** JSON allows blanks after the end. */
const bodyOf = (bytes: number) => notification.padEnd(bytes);

const framings = [
  { framing: "of known length", headers: {} },
  { framing: "in chunks", headers: { "Transfer-Encoding": "chunked" } },
] as const;
for (const { framing, headers } of framings) {
  test(`a body ${framing} of exactly max_body_size is accepted`, async (context) => {
    const { port, emitted } = await runningSource(context);

    const answer = await send(port, {
      headers: { "Content-Type": "application/json", ...headers },
      body: bodyOf(MOST),
    });

    assert.equal(answer.status, 200);
    assert.equal(emitted.length, 1);
  });

  test(`a body ${framing} of one byte more is answered 413, and the sender can read it`, async (context) => {
    const { port, emitted, accounted } = await runningSource(context);

    const answer = await send(port, {
      headers: { "Content-Type": "application/json", ...headers },
      body: bodyOf(MOST + 1),
    });

    assert.equal(answer.status, 413);
    assert.equal(answer.headers.connection, "close");
    assert.deepEqual(JSON.parse(answer.content), { error: `The content is larger than ${MOST} bytes` });
    assert.deepEqual(emitted, []);
    assert.equal(accounted[0]?.failed, true);
  });
}

test("a body announced as too large is refused before it is sent", async (context) => {
  const { port } = await runningSource(context, { config: { max_body_size: 10 } });
  const connection = await RawConnection.open(context, port);

  connection.send("POST /notify HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n\r\n");
  const answer = await connection.received(1);
  connection.send("01234567890");

  assert.match(answer, /^HTTP\/1.1 413 /);
  assert.equal(await connection.untilClosed(), answer);
});

test("a body in many small chunks arrives whole", async (context) => {
  const { port, emitted } = await runningSource(context);
  const connection = await RawConnection.open(context, port);

  connection.send(
    "POST /notify HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
  );
  for (const character of notification) connection.send(`1\r\n${character}\r\n`);
  connection.send("0\r\n\r\n");
  await connection.received(1);

  assert.equal(emitted.length, 1);
});

const stalls = [
  { where: "before its first byte", sent: "" },
  { where: "in the head", sent: "POST /notify HTTP/1.1\r\nHost: a\r\n" },
  { where: "in the body", sent: post(notification).slice(0, -1) },
] as const;
for (const { where, sent } of stalls)
  test(`a sender that stalls ${where} is answered 408 and disconnected`, async (context) => {
    const config = { request_timeout: 100, headers_timeout: 100 };
    const { port, emitted } = await runningSource(context, { config });
    const connection = await RawConnection.open(context, port);

    connection.send(sent);
    const answer = await connection.untilClosed();

    assert.match(answer, /^HTTP\/1.1 408 Request Timeout\r\n/);
    assert.deepEqual(emitted, []);
  });

const malformed = [
  { name: "what is not HTTP", sent: "hello\r\n\r\n", status: 400 },
  { name: "a chunk of no size", sent: `${post("", "Transfer-Encoding: chunked")}zz\r\n`, status: 400 },
  { name: "a request without a host", sent: "POST /notify HTTP/1.1\r\n\r\n", status: 400 },
  { name: "a request with two hosts", sent: post(notification, "Host: other"), status: 400 },
  { name: "CONNECT", sent: "CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n", status: 405 },
  { name: "headers beyond max_header_size", sent: post(notification, `X: ${"x".repeat(100_000)}`), status: 431 },
] as const;
for (const { name, sent, status } of malformed)
  test(`${name} is answered ${status}, counted, and the connection closed`, async (context) => {
    const { port, emitted, refused } = await runningSource(context);
    const connection = await RawConnection.open(context, port);

    connection.send(sent);
    const answer = await connection.untilClosed();

    assert.match(answer, new RegExp(`^HTTP/1.1 ${status} [^]*\r\nConnection: close\r\n[^]*{"error":"[^"]+"}$`));
    assert.deepEqual(
      refused.map((refusal) => refusal.status),
      [status],
    );
    assert.deepEqual(emitted, []);
  });
