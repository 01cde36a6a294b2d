import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer as createPlainServer, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { createServer } from "node:tls";
import { Connections } from "../../../plugins/kafka/client/connections.js";
import { loadLibrary } from "../../../plugins/kafka/client/library.js";
import { selfSigned } from "../../support/certificates.js";
import { until } from "../../support/until.js";

const broker = selfSigned("broker");

/** The port of a server that speaks TLS and nothing else. */
async function secured(context: TestContext) {
  const server = createServer({ key: broker.key, cert: broker.cert }).listen(0, "127.0.0.1");
  await once(server, "listening");
  context.after(() => server.close());
  const address = server.address();
  return { server, port: typeof address === "object" ? (address?.port ?? 0) : 0 };
}

/** The name that TLS is asked for by a client that connects to this host; false for none. */
async function askedFor(context: TestContext, host: string): Promise<unknown> {
  const { server, port } = await secured(context);
  const connections = await Connections.with(await loadLibrary(), "deneb", async () => ({ tls: { ca: broker.ca } }));
  const connected = once(server, "secureConnection");
  const asking = connections.request({ host, port, purpose: "admin" }, async () => "", { millis: 10_000 });

  const [socket] = await connected;
  await asking;
  connections.close();
  return socket.servername;
}

test("TLS is asked for the name of the broker, by which routers find it, and for none where it has an address", async (context) => {
  const warnings: Error[] = [];
  const note = (warning: Error) => warnings.push(warning);
  process.on("warning", note);
  context.after(() => process.off("warning", note));

  assert.deepEqual([await askedFor(context, "localhost"), await askedFor(context, "127.0.0.1")], ["localhost", false]);
  assert.deepEqual(warnings, []);
});

test("a broker that goes away in the handshake is away: another try may find it", async (context) => {
  const server = createPlainServer((socket) => socket.once("data", () => socket.destroy()));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  context.after(() => server.close());
  const address = server.address();
  const port = typeof address === "object" ? (address?.port ?? 0) : 0;
  const connections = await Connections.with(await loadLibrary(), "deneb", async () => ({ tls: { ca: broker.ca } }));
  context.after(() => connections.close());
  const line = { host: "127.0.0.1", port, purpose: "admin" };

  await assert.rejects(
    connections.request(line, async () => "answer", { millis: 10_000 }),
    { kind: "unavailable" },
  );
});

for (const secure of [false, true])
  test(`an answer that is none breaks its connection${secure ? " over TLS" : ""}, and nothing else`, async (context) => {
    const answer = (socket: Socket) =>
      socket.once("data", (asked) => {
        const bytes = Buffer.alloc(64);
        // A size that is none, and the number of the request.
        bytes.writeInt32BE(-5);
        bytes.set(asked.subarray(8, 12), 4);
        socket.write(bytes);
      });
    const server = secure ? createServer({ key: broker.key, cert: broker.cert }, answer) : createPlainServer(answer);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    context.after(() => server.close());
    const address = server.address();
    const port = typeof address === "object" ? (address?.port ?? 0) : 0;
    const library = await loadLibrary();
    const tls = secure ? { tls: { ca: broker.ca } } : {};
    const connections = await Connections.with(library, "deneb", async () => tls);
    context.after(() => connections.close());
    const ask = connections.request(
      { host: "127.0.0.1", port, purpose: "admin" },
      (line) => library.apiVersionsV3.api.async(line, "deneb", "1"),
      { millis: 10_000 },
    );

    await assert.rejects(ask, {
      kind: "unavailable",
      message: /what the broker answers is not of Kafka's protocol|closed/,
    });
  });

test("files of certificates that are replaced count after a failure, and those that cannot be used do not", async (context) => {
  const { port } = await secured(context);
  let ca: string | undefined = selfSigned("other").ca;
  const connections = await Connections.with(await loadLibrary(), "deneb", async () => {
    if (ca === undefined) throw new Error("it is being written");
    return { tls: { ca } };
  });
  context.after(() => connections.close());
  const asked = () =>
    connections.request({ host: "127.0.0.1", port, purpose: "admin" }, async () => "answer", { millis: 10_000 });
  await assert.rejects(asked(), /ssl_ca_file/);
  ca = undefined;
  await assert.rejects(asked(), /ssl_ca_file/);

  ca = broker.ca;

  await until(
    () => asked().catch(() => ""),
    (answer) => answer === "answer",
  );
});
