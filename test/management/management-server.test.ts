import assert from "node:assert/strict";
import { once } from "node:events";
import { request } from "node:https";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { ManagementServer } from "../../core/management/management-server.js";
import type { TlsMaterial } from "../../core/management/security/read-security.js";
import { selfSigned } from "../support/certificates.js";
import { recordingLog } from "../support/recording-log.js";
import { runningManagement } from "../support/running-management.js";
import { until } from "../support/until.js";

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

test("files of TLS that are replaced are in use for the connections that come then", async (context) => {
  const [first, second] = [selfSigned("first"), selfSigned("second")];
  const { log, lines } = recordingLog();
  let read: () => TlsMaterial = () => ({ ...first, ca: undefined });
  const server = new ManagementServer(
    (_request, response) => response.end("served"),
    { host: "127.0.0.1", port: 0, tls: { ...first, ca: undefined }, readTls: async () => read(), lookMillis: 5 },
    log,
  );
  context.after(() => server.stop(AbortSignal.abort()));
  await server.start();
  const asked = async (ca: string) => {
    const [response] = await once(
      request({ host: "127.0.0.1", port: server.port, ca, agent: false }).end(),
      "response",
    );
    return await text(response);
  };
  const logged = (message: string) =>
    until(
      async () => lines.map((line) => line.message),
      (messages) => messages.includes(message),
    );

  read = () => {
    throw new Error("half of it is written");
  };
  await logged("the files of TLS that were read before stay in use");
  assert.equal(await asked(first.cert), "served");
  read = () => ({ ...second, ca: undefined });
  await logged("the files of TLS can be used again");

  assert.equal(await asked(second.cert), "served");
  await assert.rejects(asked(first.cert));
});

test("a stop ends connections in their TLS handshake", { timeout: 120_000 }, async (context) => {
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
  { name: "a request of HTTP/1.1 without Host", sent: "GET /v1/version HTTP/1.1\r\n\r\n", status: 400 },
  {
    name: "a request with two headers Host",
    sent: "GET /v1/version HTTP/1.1\r\nHost: localhost\r\nHost: example.org\r\n\r\n",
    status: 400,
  },
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
