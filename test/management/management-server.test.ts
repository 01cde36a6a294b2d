import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { selfSigned } from "../support/certificates.js";
import { runningManagement } from "../support/running-management.js";

test("over TLS only clients with a certificate of the client CA are served", async (context) => {
  const server = selfSigned("server");
  const client = selfSigned("client");
  const { call } = await runningManagement(context, { tls: { ...server, ca: client.cert } });

  const { status, headers } = await call("GET", "/v1/version", {
    tls: { ca: server.cert, key: client.key, cert: client.cert },
  });

  assert.equal(status, 200);
  // It would be about all ports of the host.
  assert.equal(headers.get("strict-transport-security"), null);
  await assert.rejects(call("GET", "/v1/version", { tls: { ca: server.cert } }));
  await assert.rejects(call("GET", "/v1/version"));
});

test("a stop ends connections in their TLS handshake", { timeout: 10_000 }, async (context) => {
  const tls = { ...selfSigned("server"), ca: undefined };
  const { call, port, server } = await runningManagement(context, { tls });
  const client = connect(port, "127.0.0.1").resume();
  context.after(() => client.destroy());
  await once(client, "connect");
  const closed = once(client, "close");
  // Accepted after the first one.
  await call("GET", "/v1/version", { tls: { ca: tls.cert } });

  await server.stop(AbortSignal.abort());

  await closed;
});

const rawCases = [
  { name: "what is not HTTP", sent: "hello\r\n\r\n", status: 400 },
  { name: "a method that HTTP does not know", sent: "BREW / HTTP/1.1\r\nHost: a\r\n\r\n", status: 400 },
  { name: "headers beyond the limit", sent: `GET / HTTP/1.1\r\nX: ${"x".repeat(20_000)}\r\n\r\n`, status: 431 },
  { name: "CONNECT", sent: "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n", status: 404 },
  {
    name: "an expectation",
    sent: "GET /v1/nothing HTTP/1.1\r\nHost: localhost\r\nExpect: tea\r\nConnection: close\r\n\r\n",
    status: 404,
  },
] as const;

for (const { name, sent, status } of rawCases)
  test(`${name} is answered ${status} in the envelope`, async (context) => {
    const { port } = await runningManagement(context);
    const socket = connect(port, "127.0.0.1");
    await once(socket, "connect");

    socket.write(sent);
    const answer = await text(socket);

    assert.ok(answer.startsWith(`HTTP/1.1 ${status} `), answer);
    assert.equal(JSON.parse(answer.slice(answer.indexOf("\r\n\r\n"))).success, "false");
  });
