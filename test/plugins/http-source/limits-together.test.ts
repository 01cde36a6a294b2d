import assert from "node:assert/strict";
import { test } from "node:test";
import { notification, send } from "./http-client.js";
import { post, RawConnection } from "./raw-connection.js";
import { runningSource } from "./running-source.js";

const LARGE = notification.padEnd(400_000);

test("a connection beyond max_connections is answered 503 with Retry-After and closed; later ones are served", async (context) => {
  const config = { max_connections: 2, retry_after: 9 };
  const { port, refused } = await runningSource(context, { config });
  const first = await RawConnection.open(context, port);
  const second = await RawConnection.open(context, port);

  const third = await RawConnection.open(context, port);
  third.send(post(notification));
  const answer = await third.untilClosed();
  first.abort();
  await first.untilClosed();
  second.send(post(notification));
  const served = await second.received(1);

  assert.match(answer, /^HTTP\/1.1 503 Service Unavailable\r\n.*Retry-After: 9\r\n.*Connection: close\r\n/is);
  assert.match(served, /^HTTP\/1.1 200 /);
  assert.deepEqual(refused, [{ status: 503, cause: "too-many-connections" }]);
});

const framings = [
  { framing: "of known length", begin: post(LARGE).slice(0, -1), end: LARGE.slice(-1) },
  {
    framing: "in chunks",
    begin: `POST /notify HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${(400_000).toString(16)}\r\n${LARGE.slice(0, -1)}`,
    end: `${LARGE.slice(-1)}\r\n0\r\n\r\n`,
  },
] as const;

for (const { framing, begin, end } of framings)
  test(`a body ${framing} that has no room beside another one is answered 503, and the other one is accepted`, async (context) => {
    const config = { max_bytes_in_flight: 700_000, max_body_size: 600_000 };
    const { port, emitted, refused } = await runningSource(context, { config });
    const first = await RawConnection.open(context, port);
    first.send(begin);
    await send(port);
    const second = await RawConnection.open(context, port);

    second.send(begin);
    const refusal = await second.received(1);
    const small = await send(port);
    first.send(end);
    const answer = await first.received(1);
    const third = await RawConnection.open(context, port);
    third.send(begin + end);

    assert.match(refusal, /^HTTP\/1.1 503 .*Retry-After: 1\r\n/is);
    assert.equal(small.status, 200);
    assert.match(answer, /^HTTP\/1.1 200 /);
    assert.match(await third.received(1), /^HTTP\/1.1 200 /, "the room of the first one is free again");
    assert.equal(emitted.length, 4);
    assert.deepEqual(refused, [{ status: 503, cause: "too-many-bytes-in-flight" }]);
  });

test("a body that is refused half-way may be sent to its end, and the connection is closed then", async (context) => {
  const config = { max_bytes_in_flight: 700_000, max_body_size: 600_000 };
  const { port, emitted } = await runningSource(context, { config });
  const first = await RawConnection.open(context, port);
  first.send(post(LARGE).slice(0, -1));
  await send(port);
  const second = await RawConnection.open(context, port);

  second.send(post(LARGE).slice(0, -1));
  await second.received(1);
  second.send(LARGE.slice(-1));
  second.finish();

  assert.match(await second.untilClosed(), /^HTTP\/1.1 503 .*}$/s);
  assert.equal(emitted.length, 1);
});

const early = [
  { what: "no token", config: { token: ["t"] }, text: post(notification), refusal: { status: 401, cause: "token" } },
  {
    what: "a body that is too large",
    config: { max_body_size: 10 },
    text: post(notification),
    refusal: { status: 413, cause: "content-too-large" },
  },
  {
    what: "something else than HTTP",
    config: {},
    text: "hello\r\n\r\n",
    refusal: { status: 400, cause: "malformed-http" },
  },
  {
    what: "a body that stalls",
    config: { request_timeout: 1000, headers_timeout: 1000 },
    text: post(notification).slice(0, -1),
    refusal: { status: 408, cause: "request-timeout" },
  },
  {
    what: "a head that stalls",
    config: { request_timeout: 1000, headers_timeout: 1000 },
    text: "POST /notify HTTP/1.1\r\n",
    refusal: { status: 408, cause: "request-timeout" },
  },
] as const;

for (const { what, config, text, refusal } of early)
  test(`${what} is counted as a refusal with ${refusal.status} and warned about`, async (context) => {
    const { port, refused, lines } = await runningSource(context, { config: config });
    const connection = await RawConnection.open(context, port);

    connection.send(text);
    await connection.untilClosed();

    assert.deepEqual(refused, [refusal]);
    assert.equal(lines.filter(({ level }) => level === "warn").length, 1);
  });

test("a connection that never sends anything is closed, and is no refusal", async (context) => {
  const config = { request_timeout: 50, headers_timeout: 50 };
  const { port, refused } = await runningSource(context, { config });
  const connection = await RawConnection.open(context, port);

  await connection.untilClosed();

  assert.deepEqual(refused, []);
});
