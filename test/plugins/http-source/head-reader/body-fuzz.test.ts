import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { type TestContext, test } from "node:test";
import fc from "fast-check";
import type { Handler } from "../../../../core/sdk/index.js";
import { RawConnection } from "../raw-connection.js";
import { runningSource } from "../running-source.js";

/** One request of a connection, and its pieces as a sender may write them. */
interface Sent {
  readonly text: string;
  readonly body: string;
}

const head = (...fields: readonly string[]) => ["POST /notify HTTP/1.1", "Host: agent", ...fields, "", ""].join("\r\n");
const plain = (body: string): Sent => ({ text: head(`Content-Length: ${body.length}`) + body, body });
const chunked = (body: string): Sent => {
  const half = Math.ceil(body.length / 2);
  const chunks = [body.slice(0, half), body.slice(half)].filter((part) => part !== "");
  const content = chunks.map((part) => `${part.length.toString(16)}\r\n${part}\r\n`).join("");
  return { text: `${head("Transfer-Encoding: chunked")}${content}0\r\n\r\n`, body };
};

/** Some look like the beginning or the end of a request. */
const bodies = fc.oneof(
  fc.constantFrom("", "\r\n", "\r\n\r\n", plain("x").text, chunked("x").text, "0\r\n\r\n"),
  fc.string({ maxLength: 40, unit: "binary-ascii" }),
);
const requests = fc.array(
  fc.tuple(bodies, fc.integer({ min: 0, max: 3 })).map(([body, kind]) => (kind === 0 ? chunked(body) : plain(body))),
  { minLength: 1, maxLength: 4 },
);
const cuts = fc.array(fc.nat(400), { maxLength: 5 });

function piecesOf(text: string, places: readonly number[]): readonly string[] {
  const inside = [...new Set(places)].filter((at) => at > 0 && at < text.length).sort((one, other) => one - other);
  return [0, ...inside].map((from, index) => text.slice(from, inside[index] ?? text.length));
}

/** Bodies as Node's server reads them. */
async function nodeServer(context: TestContext) {
  const read: string[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      read.push(Buffer.concat(chunks).toString("latin1"));
      response.writeHead(200, { "Content-Length": 0 }).end();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  context.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  return { read, port: typeof address === "object" ? (address?.port ?? 0) : 0 };
}

async function send(context: TestContext, port: number, pieces: readonly string[], responses: number): Promise<string> {
  const connection = await RawConnection.open(context, port);
  for (const piece of pieces) {
    connection.send(piece);
    await new Promise(setImmediate);
  }
  const received = await connection.received(responses);
  connection.abort();
  return received;
}

test("requests sent without waiting, cut anywhere, are read by the source as by Node's server", async (context) => {
  const read: string[] = [];
  const handler: Handler = {
    decode: ({ body }) => {
      read.push(Buffer.from(body).toString("latin1"));
      return { events: [], service: "s", servicePath: "/" };
    },
  };
  const source = await runningSource(context, { handler });
  const node = await nodeServer(context);
  const random = Number(process.env["DENEB_TEST_SEED"] ?? Date.now() % 1_000_000);
  context.diagnostic(`seed ${random}`);

  for (const seed of [20_261_122, random])
    await fc.assert(
      fc.asyncProperty(requests, cuts, async (sent, places) => {
        const pieces = piecesOf(sent.map(({ text }) => text).join(""), places);
        read.length = 0;
        node.read.length = 0;

        const [bySource] = await Promise.all([
          send(context, source.port, pieces, sent.length),
          send(context, node.port, pieces, sent.length),
        ]);

        assert.deepEqual(
          read,
          sent.map(({ body }) => body),
        );
        assert.deepEqual(read, node.read);
        assert.equal(bySource.match(/HTTP\/1.1 200 OK\r\n/g)?.length, sent.length);
      }),
      { seed, numRuns: 200 },
    );
});

test("a body is whole wherever the request is cut, also behind another request", async (context) => {
  const read: string[] = [];
  const handler: Handler = {
    decode: ({ body }) => {
      read.push(Buffer.from(body).toString("latin1"));
      return { events: [], service: "s", servicePath: "/" };
    },
  };
  const { port } = await runningSource(context, { handler });
  const text = plain("first body").text + plain("second\r\n\r\nbody").text;

  for (let cut = 1; cut < text.length; cut += 1) {
    read.length = 0;
    await send(context, port, [text.slice(0, cut), text.slice(cut)], 2);
    assert.deepEqual(read, ["first body", "second\r\n\r\nbody"], `cut at ${cut}`);
  }
});
