import assert from "node:assert/strict";
import { once } from "node:events";
import { type TestContext, test } from "node:test";
import { createServer } from "node:tls";
import { Connections } from "../../../plugins/kafka/client/connections.js";
import { loadLibrary } from "../../../plugins/kafka/client/library.js";
import { selfSigned } from "../../support/certificates.js";

const broker = selfSigned("broker");

/** The name that TLS is asked for by a client that connects to this host; false for none. */
async function askedFor(context: TestContext, host: string): Promise<unknown> {
  const server = createServer({ key: broker.key, cert: broker.cert }).listen(0, "127.0.0.1");
  await once(server, "listening");
  context.after(() => server.close());
  const address = server.address();
  const port = typeof address === "object" ? (address?.port ?? 0) : 0;
  const connections = new Connections(await loadLibrary(), "deneb", { tls: { ca: broker.ca } });
  const secured = once(server, "secureConnection");
  const asking = connections.request({ host, port, purpose: "admin" }, async () => "", { millis: 10_000 });

  const [socket] = await secured;
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
