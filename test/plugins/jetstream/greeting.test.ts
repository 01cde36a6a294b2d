import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { connect, createServer, type Socket } from "node:net";
import path from "node:path";
import { type TestContext, test } from "node:test";
import { createServer as createTlsServer } from "node:tls";
import { greets } from "../../../plugins/jetstream/log/greeting.js";
import { Link } from "../../../plugins/jetstream/log/link.js";
import { optionsFor } from "../../../plugins/jetstream/log/options.js";
import { selfSigned } from "../../support/certificates.js";
import type { OwnServer } from "../../support/provided-server.js";
import { tempFolder } from "../../support/temp-folder.js";
import { until } from "../../support/until.js";
import { configOf, ownNats } from "./nats.js";

/** The address of a server that says this to whoever connects. */
async function saying(context: TestContext, say: (socket: Socket) => void): Promise<string> {
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    say(socket);
  }).listen(0, "127.0.0.1");
  context.after(() => server.close());
  await once(server, "listening");
  const address = server.address();
  return `127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
}

const soon = () => AbortSignal.timeout(10_000);

test("a greeting may come in pieces", async (context) => {
  const server = await saying(context, (socket) => {
    socket.write("IN");
    setImmediate(() => socket.write('FO {"server_id":"a"}\r\n'));
  });

  await greets(server, soon());
});

test("what is no NATS server is named with how it begins and the property", async (context) => {
  const server = await saying(context, (socket) => socket.write("HTTP/1.1 400 Bad Request\r\n\r\n"));

  await assert.rejects(greets(server, soon()), {
    message: 'what answers there is no NATS server: it begins with "HTTP/1.1 400 Bad Req"; see the property "servers"',
  });
});

test("a greeting without an end is refused, and its connection is closed", async (context) => {
  let closed: Promise<unknown> | undefined;
  const server = await saying(context, (socket) => {
    closed = new Promise((resolve) => socket.once("close", resolve));
    const more = () => {
      while (!socket.destroyed && socket.write("INFO ".repeat(1000)));
    };
    socket.on("drain", more);
    more();
  });

  await assert.rejects(greets(server, soon()), {
    message: /^what answers there is no NATS server: it begins with "INFO /,
  });
  await closed;
});

test("a server that waits for TLS before it greets (handshake_first) is connected to, and its certificate is compared", async (context) => {
  const material = selfSigned("nats");
  const server = createTlsServer(material, (socket) => {
    socket.on("error", () => undefined);
    socket.write(
      'INFO {"server_id":"a","version":"2.15.1","proto":1,"headers":true,"max_payload":1048576,"tls_required":true}\r\n',
    );
    socket.on("data", (said) => {
      if (String(said).includes("PING")) socket.write("PONG\r\n");
    });
  }).listen(0, "127.0.0.1");
  server.on("tlsClientError", () => undefined);
  context.after(() => server.close());
  await once(server, "listening");
  const address = server.address();
  const url = `tls://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
  const ca = path.join(await tempFolder(context), "ca.pem");
  await writeFile(ca, material.ca);
  const linked = async (tls_ca_file: string) => {
    const link = new Link(configOf({ servers: [url], tls_ca_file }), 'channel "log"');
    context.after(() => link.close());
    return await link.connection("testing");
  };

  assert.equal((await linked(ca)).info?.version, "2.15.1");
  await assert.rejects(linked(""), { code: "LOG_DENIED", message: /not signed by a trusted authority/ });
});

test("a server that greets late is connected to without TLS before its greeting", async (context) => {
  const sockets: Socket[] = [];
  const server = await saying(context, (socket) => {
    sockets.push(socket);
    socket.once("data", () => {
      socket.destroy();
      for (const other of sockets) if (other !== socket) other.write('INFO {"server_id":"a"}\r\n');
    });
  });

  assert.equal(await greets(server, soon(), {}, 1), "greeting");
});

test("an end does not wait for a server that greets and says nothing more", async (context) => {
  let heard = () => {};
  const asked = new Promise<void>((resolve) => {
    heard = resolve;
  });
  const server = await saying(context, (socket) => {
    socket.write('INFO {"server_id":"a","version":"2.10.0","proto":1,"headers":true,"max_payload":1048576}\r\n');
    socket.once("data", () => heard());
    // The client itself goes on to wait.
    context.after(() => socket.destroy());
  });
  const link = new Link(configOf({ servers: [server], request_timeout: 60_000 }), 'channel "log"');
  const connecting = link.connection("testing");
  await asked;

  await Promise.all([link.close(), assert.rejects(connecting, /the log is closed/)]);
});

test("a server that has as many connections as it takes is named with what it answers", async (context) => {
  const server = await ownNats(context, { lines: ["max_connections: 1"] });
  if (server === undefined) return;
  // What has looked whether the server is there may still be its only connection.
  await until(
    () => answerToPing(context, server),
    (answer) => answer.includes("PONG"),
  );
  const link = new Link(configOf({ servers: [server.url], request_timeout: 3000 }), 'channel "log"');
  context.after(() => link.close());

  await assert.rejects(link.connection("testing"), {
    code: "LOG_UNAVAILABLE",
    message: /maximum connections exceeded/,
  });
});

test("a name is tried with all of its addresses at once, and TLS is asked for the name", () => {
  const tls = { ca: "authority", rejectUnauthorized: true };

  assert.deepEqual(optionsFor("tls://nats.example:4333", { tls }), {
    servers: ["tls://nats.example:4333"],
    resolve: false,
    tls: { ...tls, host: "nats.example", servername: "nats.example" },
  });
  assert.deepEqual(optionsFor("[::1]", { tls }).tls, { ...tls, host: "::1" });
  assert.deepEqual(optionsFor("nats.example", {}), { servers: ["nats.example"], resolve: false });
});

/** What the server says to a connection that stays until the test ends, up to its answer to a ping or to the connection. */
async function answerToPing(context: TestContext, { host, port }: OwnServer): Promise<string> {
  const socket = connect(port, host);
  context.after(() => socket.destroy());
  socket.on("error", () => undefined);
  socket.write("CONNECT {}\r\nPING\r\n");
  return await new Promise((resolve) => {
    let answer = "";
    socket.on("data", (piece) => {
      answer += String(piece);
      if (/PONG|-ERR/.test(answer)) resolve(answer);
    });
    socket.once("close", () => resolve(answer));
  });
}
