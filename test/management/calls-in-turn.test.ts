import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, get, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { text } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import { InTurn } from "../../core/management/in-turn.js";
import { ManagementServer } from "../../core/management/management-server.js";
import { recordingLog } from "../support/recording-log.js";
import { until } from "../support/until.js";

const chunks = "\r\nTransfer-Encoding: chunked\r\n\r\n";
const call = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;

/** A server that answers no call by itself, and the calls that it was given. */
async function heldServer(context: TestContext) {
  const calls: { readonly path: string; readonly response: ServerResponse }[] = [];
  const server = new ManagementServer(
    ({ url = "" }, response) => calls.push({ path: url, response }),
    { host: "127.0.0.1", port: 0 },
    recordingLog().log,
  );
  await server.start();
  context.after(() => server.stop(AbortSignal.abort()));
  const begun = (number: number) =>
    until(
      async () => calls.length,
      (length) => length >= number,
    );
  return { server, port: server.port, calls, begun };
}

test("the calls of a connection are answered one after another, however many are sent at once", async (context) => {
  const { port, calls, begun } = await heldServer(context);
  const paths = Array.from({ length: 30 }, (_, at) => `/${at}`);
  const socket = connect(port, "127.0.0.1");
  context.after(() => socket.destroy());

  socket.write(paths.map(call).join(""));
  await begun(1);
  const other = get({ port, host: "127.0.0.1", agent: false });
  await begun(2);
  assert.deepEqual(
    calls.map(({ path }) => path),
    ["/0", "/"],
  );
  calls.pop()?.response.end();
  await once(other, "response");
  const got = text(socket);
  for (let at = 0; at < paths.length; at += 1) {
    await begun(at + 1);
    calls[at]?.response.setHeader("Path", calls[at]?.path ?? "").end();
  }
  socket.end();

  assert.deepEqual(
    [...(await got).matchAll(/^Path: (.*)\r$/gm)].map(([, path]) => path),
    paths,
  );
});

test("a caller that stops reading its answer is disconnected, and one whose answer takes long to be made is not", {
  timeout: 120_000,
}, async (context) => {
  const longestUnread = 200;
  const later = (response: ServerResponse) => setTimeout(() => response.end("late"), 3 * longestUnread);
  const server = createServer(
    new InTurn(({ url }, response) => {
      if (url === "/late") later(response);
      else response.end(Buffer.alloc(50_000_000));
    }, longestUnread).answer,
  );
  context.after(() => server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  const port = portOf(server.address());
  const unread = connect(port, "127.0.0.1").pause();
  context.after(() => unread.destroy());
  const left = once(server, "connection").then(([socket]) => once(socket, "close"));

  unread.write(call("/large") + call("/never"));
  await left;
  const patient = get({ port, host: "127.0.0.1", path: "/late", agent: false });
  const [response] = await once(patient, "response");

  assert.equal(await text(response), "late");
});

const lasts = [
  { what: "what is not HTTP", text: "HELLO\r\n\r\n", status: 400 },
  { what: "headers that are too large", text: `GET / HTTP/1.1\r\nX: ${"x".repeat(20_000)}\r\n\r\n`, status: 431 },
  { what: "CONNECT", text: "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n", status: 404 },
  { what: "a body that is not as announced", text: `${call("/half").replace("\r\n\r\n", chunks)}Z\r\n`, status: 400 },
  { what: "a call without Host", text: call("/").replace("Host", "X"), status: 400 },
] as const;

for (const { what, text: last, status } of lasts)
  test(`${what} behind calls is answered ${status} after these, and nothing behind it is answered`, async (context) => {
    const { port, calls, begun } = await heldServer(context);
    const socket = connect(port, "127.0.0.1");
    context.after(() => socket.destroy());

    socket.write(`${call("/0")}${call("/1")}${last}${call("/never")}`);
    const got = text(socket);
    for (const at of [0, 1]) {
      await begun(at + 1);
      const other = get({ port, host: "127.0.0.1", agent: false });
      await begun(at + 2);
      calls.pop()?.response.end();
      await once(other, "response");
      calls[at]?.response.setHeader("Path", calls[at]?.path ?? "").end();
    }

    assert.deepEqual((await got).match(/^(?:Path: .*|HTTP\/1.1 \d+)/gm), [
      ...["HTTP/1.1 200", "Path: /0"],
      ...["HTTP/1.1 200", "Path: /1"],
      `HTTP/1.1 ${status}`,
    ]);
    assert.deepEqual(
      calls.map(({ path }) => path),
      ["/0", "/1"],
    );
  });

test("a stop ends a connection whose caller asks for a tunnel behind a call that is not answered", async (context) => {
  const { server, port, begun } = await heldServer(context);
  const socket = connect(port, "127.0.0.1");
  context.after(() => socket.destroy());

  socket.write(`${call("/0")}CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n`);
  await begun(1);
  await server.stop(AbortSignal.abort());

  assert.equal(await text(socket), "");
});

function portOf(address: AddressInfo | string | null): number {
  assert.ok(typeof address === "object" && address !== null);
  return address.port;
}
