import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import path from "node:path";
import { type TestContext, test } from "node:test";
import { createServer as createTlsServer, type TLSSocket } from "node:tls";
import { selfSigned } from "../../support/certificates.js";
import { tempFolder } from "../../support/temp-folder.js";
import { patient, room, runningSink } from "./receiver.js";

/** The address of a server that handles each connection in this way. */
async function serving(context: TestContext, server: Server): Promise<string> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  context.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  return `127.0.0.1:${address.port}`;
}

const OK = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
const expired = selfSigned("expired", new Date("2026-01-01"));
const expiring = selfSigned("server");
const closing = (socket: Socket) => socket.once("data", () => socket.end("SSH-2.0-OpenSSH\r\n"));

const unreachable = [
  {
    what: "a server that speaks something else",
    scheme: "http",
    server: () => createServer(closing),
    says: /: what it answers is not valid HTTP\/1\.1 \(HPE_INVALID_CONSTANT\); see whether url names the right port/,
  },
  {
    what: "a server without TLS",
    scheme: "https",
    server: () => createServer(closing),
    says: /: the server does not speak TLS on this port; write http:\/\/ in url/,
  },
  {
    what: "a server with an expired certificate",
    scheme: "https",
    server: () => createTlsServer(expired),
    says: /: the certificate of the server is not valid now \(CERT_HAS_EXPIRED\); have it renewed$/,
  },
  {
    what: "a server with a certificate of an unknown authority",
    scheme: "https",
    server: () => createTlsServer(selfSigned("other")),
    says: /: the certificate of the server is not signed by a trusted authority \(.*\); give that authority in tls_ca_file$/,
  },
] as const;

for (const { what, scheme, server, says } of unreachable)
  test(`${what} is an error that says what to do`, async (context) => {
    const ca = path.join(await tempFolder(context), "ca.pem");
    await writeFile(ca, expired.ca);
    const address = await serving(context, server());
    const sink = await runningSink(context, { url: `${scheme}://${address}/`, tls_ca_file: ca });

    await assert.rejects(sink.persist({ events: [room("a", 1)] }, patient), {
      code: "HTTP_UNREACHABLE",
      retryable: true,
      message: says,
    });
  });

test("a server that answers without reading the body keeps no connection busy", {
  timeout: 20_000,
}, async (context) => {
  let requests = 0;
  const server = createServer((socket) =>
    socket.once("data", () => {
      requests += 1;
      socket.pause().write(OK);
    }),
  );
  const url = `http://${await serving(context, server)}/`;
  const body = "x".repeat(10_000_000);
  const sink = await runningSink(context, { url, body, max_connections: 1, request_timeout: 5000 });

  for (const n of [1, 2, 3]) await sink.persist({ events: [room("a", n)] }, patient);

  assert.equal(requests, 3);
});

test("kept connections that the server has all closed are no failure, and each event is sent once", async (context) => {
  const bodies: string[] = [];
  const server = createServer((socket) =>
    socket.once("data", (first) => {
      bodies.push(/\r\n\r\n(.*)$/.exec(first.toString())?.[1] ?? "");
      // As a server does whose time for an idle connection is over at this moment.
      socket.once("data", () => socket.destroy());
      socket.write(OK);
    }),
  );
  const url = `http://${await serving(context, server)}/`;
  const sink = await runningSink(context, { url, body: "{{attribute.n}}", max_connections: 4 });
  const numbers = Array.from({ length: 60 }, (_, n) => n);

  for (let from = 0; from < 60; from += 12)
    await sink.persist({ events: numbers.slice(from, from + 12).map((n) => room(`room-${n}`, n)) }, patient);

  assert.deepEqual(
    bodies.map(Number).sort((one, other) => one - other),
    numbers,
  );
});

for (const { scheme, listening } of [
  { scheme: "http", listening: createServer },
  { scheme: "https", listening: (onSocket: (socket: Socket) => void) => createTlsServer(expiring, onSocket) },
])
  test(`what a server sends over ${scheme} while no request is under way ends the connection, and answers no request`, {
    timeout: 60_000,
  }, async (context) => {
    const late = Buffer.from("HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
    const sockets: Socket[] = [];
    const server = listening((socket) => {
      sockets.push(socket);
      socket.on("error", () => undefined).on("data", () => socket.write(OK));
    });
    const url = `${scheme}://${await serving(context, server)}/`;
    const sink = await runningSink(context, { url, tls_verify: false, max_connections: 1 });
    await sink.persist({ events: [room("a", 1)] }, patient);

    const [socket] = sockets;
    assert.ok(socket);
    const ended = once(socket, "end");
    socket.write(late);
    await ended;
    await sink.persist({ events: [room("a", 2)] }, patient);

    assert.equal(sockets.length, 2);
  });

test("a certificate that replaces the one of the client is shown from the next write on, before a server refuses the old one", async (context) => {
  const [broker, old, renewed] = [selfSigned("server"), selfSigned("old"), selfSigned("renewed")];
  const shown: unknown[] = [];
  const server = createTlsServer({ ...broker, requestCert: true, rejectUnauthorized: false }, (socket: TLSSocket) => {
    shown.push(socket.getPeerCertificate().subject.CN);
    socket.on("data", () => socket.write(OK));
  });
  const folder = await tempFolder(context);
  const file = (name: string) => path.join(folder, name);
  await writeFile(file("ca"), broker.ca);
  const written = async ({ cert, key }: { readonly cert: string; readonly key: string }) => {
    await writeFile(file("cert"), cert);
    await writeFile(file("key"), key);
  };
  await written(old);
  const config = {
    url: `https://${await serving(context, server)}/`,
    tls_ca_file: file("ca"),
    tls_cert_file: file("cert"),
    tls_key_file: file("key"),
  };
  const sink = await runningSink(context, config, 0);
  const write = () => sink.persist({ events: [room("a", 1)] }, patient);

  await write();
  await write();
  await writeFile(file("cert"), renewed.cert);
  await write();
  assert.deepEqual(shown, ["old"], "files that do not fit together change nothing");
  await written(renewed);
  await write();

  assert.deepEqual(shown, ["old", "renewed"]);
});
