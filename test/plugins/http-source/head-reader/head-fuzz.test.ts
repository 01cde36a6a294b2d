import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { connect } from "node:net";
import { type TestContext, test } from "node:test";
import fc from "fast-check";
import { plainHead } from "../../../../plugins/http-source/head-reader/plain-head.js";
import { firstHeaders } from "../../../../plugins/http-source/headers.js";

const limits = { head: 4096, body: 1000 };
const BODY = "0123456789";

/** A request as a reader of heads understands it; undefined when it refuses it. */
interface Read {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly bodyLength: number;
  readonly isLast: boolean;
}

const lines = fc.array(
  fc.oneof(
    fc.constantFrom("Host: agent", "Content-Length: 10", "Content-Length: 4", "Content-Type: application/json"),
    fc.constantFrom(
      "Connection: close",
      "Connection: keep-alive",
      "Proxy-Connection: close",
      "Transfer-Encoding: chunked",
      "Expect: 100-continue",
    ),
    fc.constantFrom(
      "Fiware-Service:  open iot ",
      "X:",
      "X-Empty: ",
      "Connection: close\t",
      "Link: <a>;b",
      "TE: x",
      "Upgrade: h2c",
      " folded",
    ),
    fc.tuple(fc.string({ maxLength: 6 }), fc.string({ maxLength: 12 })).map(([name, value]) => `${name}:${value}`),
  ),
  { maxLength: 6 },
);
const starts = fc.constantFrom("POST /notify HTTP/1.1", "POST /n?a=b HTTP/1.1", "POST / HTTP/1.0", "GET / HTTP/1.1");
const edits = fc.array(
  fc.record({
    at: fc.nat(400),
    cut: fc.nat(3),
    put: fc.constantFrom(
      "",
      "\r",
      "\n",
      "\t",
      " ",
      ":",
      "\0",
      "\x7f",
      "\x80",
      "\xff",
      "a",
      "0",
      ",",
      "\r\n",
      "\r\n\r\n",
    ),
  }),
  { maxLength: 3 },
);
/** The usual head, mutated. */
const heads = fc.tuple(starts, lines, edits).map(([start, more, changes]) => {
  const head = [start, "Host: agent", "Content-Length: 10", ...more].join("\r\n");
  const changed = changes.reduce((text, { at, cut, put }) => text.slice(0, at) + put + text.slice(at + cut), head);
  return Buffer.from(`${changed}\r\n\r\n${BODY}`, "latin1");
});

async function nodeReader(context: TestContext): Promise<(bytes: Buffer) => Promise<Read | undefined>> {
  const requests = new Map<number | undefined, RequestListener>();
  const server = createServer({ maxHeaderSize: limits.head }, (request, response) =>
    requests.get(request.socket.remotePort)?.(request, response),
  );
  server.on("clientError", (_error, socket) => socket.destroy());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  context.after(() => server.close());
  const address = server.address();
  const port = typeof address === "object" ? (address?.port ?? 0) : 0;
  return async (bytes) => {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => undefined);
    await once(socket, "connect");
    const { localPort } = socket;
    const answered = new Promise<Read | undefined>((resolve) => {
      requests.set(localPort, (request, response) => {
        let bodyLength = 0;
        request.on("data", (chunk: Buffer) => {
          bodyLength += chunk.length;
        });
        request.on("error", () => resolve(undefined));
        request.on("end", () => {
          const { method = "", url: path = "", rawHeaders } = request;
          resolve({ method, path, headers: firstHeaders(rawHeaders), bodyLength, isLast: !response.shouldKeepAlive });
        });
      });
      socket.on("close", () => resolve(undefined));
    });
    // The end tells a server that waits for more that there is none.
    socket.end(bytes);
    const read = await answered;
    requests.delete(localPort);
    socket.destroy();
    return read;
  };
}

function readPlainly(bytes: Buffer): Read | undefined {
  const head = plainHead(bytes, limits);
  if (head === undefined || head.bodyTo > bytes.length) return undefined;
  const { path, headers, bodyFrom, bodyTo, isLast } = head;
  return { method: "POST", path, headers, bodyLength: bodyTo - bodyFrom, isLast };
}

test("what is read as a plain head is read by Node's parser in the same way, whatever is changed in a head", async (context) => {
  const readByNode = await nodeReader(context);
  const random = Number(process.env["DENEB_TEST_SEED"] ?? Date.now() % 1_000_000);
  context.diagnostic(`seed ${random}`);
  let accepted = 0;

  for (const seed of [20_261_122, random]) {
    await fc.assert(
      fc.asyncProperty(heads, async (bytes) => {
        const plain = readPlainly(bytes);
        if (plain === undefined) return;
        accepted += 1;
        const byNode = await readByNode(bytes);
        assert.deepEqual(plain, byNode, JSON.stringify(bytes.toString("latin1")));
      }),
      { seed, numRuns: 4000 },
    );
  }

  assert.ok(accepted > 300, `only ${accepted} heads were plain`);
});
