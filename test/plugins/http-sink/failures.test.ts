import assert from "node:assert/strict";
import { test } from "node:test";
import { HttpSink } from "../../../plugins/http-sink/http-sink.js";
import plugin from "../../../plugins/http-sink/index.js";
import { recordingLog } from "../../support/recording-log.js";
import { until } from "../../support/until.js";
import { now, patient, receiver, room, runningSink, sinkConfig } from "./receiver.js";

const busy = { code: "HTTP_BUSY", retryable: true } as const;
const refused = { code: "HTTP_REFUSED", retryable: false } as const;
const later = new Date(now.getTime() + 7000).toUTCString();
const answers = [
  { status: 503, header: "2", error: { ...busy, retryAfter: 2000 } },
  { status: 429, header: later, error: { ...busy, retryAfter: 7000 } },
  { status: 503, header: "86400", error: { ...busy, retryAfter: 300_000 } },
  { status: 503, header: "soon", error: { ...busy, retryAfter: undefined } },
  { status: 503, header: now.toUTCString(), error: { ...busy, retryAfter: 0 } },
  { status: 500, header: undefined, error: { ...busy, retryAfter: undefined } },
  { status: 408, header: undefined, error: busy },
  { status: 425, header: undefined, error: busy },
  { status: 400, header: undefined, error: refused },
  { status: 401, header: undefined, error: refused },
  { status: 404, header: "2", error: refused },
  { status: 413, header: undefined, error: refused },
  { status: 304, header: undefined, error: refused },
] as const;
for (const { status, header, error } of answers)
  test(`answer ${status} with Retry-After ${header} is ${error.code}`, async (context) => {
    const server = await receiver(context, (response) => {
      response.writeHead(status, header === undefined ? {} : { "Retry-After": header }).end();
    });
    const sink = await runningSink(context, { url: `${server.url}/in?key=secret`, bearer_token: "secret" });

    await assert.rejects(sink.persist({ events: [room("a", 1)] }, patient), (thrown: Error) => {
      assert.equal(Reflect.get(thrown, "code"), error.code);
      assert.equal(Reflect.get(thrown, "retryable"), error.retryable);
      if ("retryAfter" in error) assert.equal(Reflect.get(thrown, "retryAfter"), error.retryAfter);
      assert.match(thrown.message, new RegExp(`^sending 1 event to "${server.url}/in": answered ${status} `));
      return true;
    });
  });

test("a change of the protocol that nobody asked for refuses the request", { timeout: 20_000 }, async (context) => {
  const server = await receiver(context, ({ socket }) => {
    socket?.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n");
  });
  const sink = await runningSink(context, { url: server.url });

  await assert.rejects(sink.persist({ events: [room("a", 1)] }, patient), {
    ...refused,
    message: `sending 1 event to "${server.url}/": answered 101 Switching Protocols`,
  });
});

test("a response 204 is accepted, whatever the server sends behind it", async (context) => {
  const server = await receiver(context, ({ socket }) => {
    socket?.end("HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello");
  });
  const sink = await runningSink(context, { url: server.url });

  await sink.persist({ events: [room("a", 1), room("b", 2)] }, patient);

  assert.equal(server.requests.length, 2);
});

test("a complete response is accepted, also where the server sends more than the length that it gave", async (context) => {
  const server = await receiver(context, ({ socket }) => {
    socket?.end("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nCaf\u00e9!");
  });
  const sink = await runningSink(context, { url: server.url });

  const { responseBytes } = await sink.persist({ events: [room("a", 1), room("a", 2)] }, patient);

  assert.deepEqual([server.requests.length, responseBytes], [2, 10]);
});

test("a redirect is not followed", async (context) => {
  const target = await receiver(context);
  const server = await receiver(context, (response) => {
    response.writeHead(307, { Location: target.url }).end();
  });
  const sink = await runningSink(context, { url: server.url });

  await assert.rejects(sink.persist({ events: [room("a", 1)] }, patient), refused);

  assert.equal(target.requests.length, 0);
});

test("a request to a server that hangs ends at the time-out", async (context) => {
  const server = await receiver(context, () => undefined);
  const sink = await runningSink(context, { url: server.url, request_timeout: 50 });

  await assert.rejects(sink.persist({ events: [room("a", 1)] }, patient), {
    code: "HTTP_UNREACHABLE",
    retryable: true,
    message: `sending to "${server.url}/": no whole answer within 50 ms`,
  });
});

test("a request whose response never ends, ends at the time-out", async (context) => {
  const server = await receiver(context, (response) => {
    response.writeHead(200).write("and");
  });
  const sink = await runningSink(context, { url: server.url, request_timeout: 50 });

  await assert.rejects(sink.persist({ events: [room("a", 1)] }, patient), { code: "HTTP_UNREACHABLE" });
});

test("a write that is aborted ends at once", async (context) => {
  const server = await receiver(context, () => undefined);
  const sink = await runningSink(context, { url: server.url });
  const stop = new AbortController();

  const write = sink.persist({ events: [room("a", 1)] }, stop.signal);
  await until(
    async () => server.requests.length,
    (count) => count === 1,
  );
  stop.abort();

  await assert.rejects(write, { code: "HTTP_UNREACHABLE", retryable: true });
});

test("a response that is interrupted is not a success", async (context) => {
  const server = await receiver(context, (response) => {
    response.writeHead(200, { "Content-Length": 100 }).write("half", () => response.destroy());
  });
  const sink = await runningSink(context, { url: server.url });

  await assert.rejects(sink.persist({ events: [room("a", 1)] }, patient), {
    code: "HTTP_UNREACHABLE",
    retryable: true,
  });
});

test("a server that refuses connections is a retryable failure", async (context) => {
  const sink = await runningSink(context, { url: "http://127.0.0.1:1/" });

  await assert.rejects(sink.persist({ events: [room("a", 1)] }, patient), {
    code: "HTTP_UNREACHABLE",
    retryable: true,
    message: 'sending to "http://127.0.0.1:1/": ECONNREFUSED',
  });
});

test("a kept connection that the server has closed in the meantime is not a failure", async (context) => {
  const server = await receiver(context, (response, number) => {
    if (number === 2) response.req.socket.resetAndDestroy();
    else response.end();
  });
  const sink = await runningSink(context, { url: server.url, max_connections: 1 });

  for (const n of [1, 2]) await sink.persist({ events: [room("a", n)] }, patient);

  assert.equal(server.requests.length, 3);
});

test("what was sent before the server went away is not sent again", async (context) => {
  const server = await receiver(context, (response, number) => {
    response.writeHead(number === 2 ? 503 : 200).end();
  });
  const sink = await runningSink(context, { url: server.url, body: "{{attribute.n}}", max_connections: 1 });
  const events = [room("a", 1), room("b", 2), room("c", 3)];

  await assert.rejects(sink.persist({ events }, patient), busy);
  await sink.persist({ events }, patient);

  assert.deepEqual(
    server.requests.map(({ body }) => body),
    ["1", "2", "2", "3"],
  );
});

test("a sink that replaces another one continues where that was", async (context) => {
  const server = await receiver(context, (response, number) => {
    if (number !== 2) response.end();
  });
  const config = { ...sinkConfig, url: server.url, body: "{{attribute.n}}", max_connections: 1 };
  const { log } = recordingLog();
  const place = { name: "http-sink", log, dataDir: "", run: "run", now: () => now };
  const [first, second] = [plugin.create(config, place), plugin.create(config, place)];
  context.after(() => second.stop(patient));
  const events = [room("a", 1), room("b", 2), room("c", 3)];
  const late = new AbortController();
  await first.start();
  const write = first.persist({ events }, late.signal);
  await until(
    async () => server.requests.length,
    (count) => count === 2,
  );

  late.abort();
  await assert.rejects(write);
  await first.stop(patient);
  await second.start();
  await second.persist({ events }, patient);

  assert.deepEqual(
    server.requests.map(({ body }) => body),
    ["1", "2", "2", "3"],
  );
});

test("entities go side by side, as many as max_connections, the events of each in order", async (context) => {
  let open = 0;
  let most = 0;
  const server = await receiver(context, (response) => {
    open += 1;
    most = Math.max(most, open);
    setImmediate(() => {
      open -= 1;
      response.end();
    });
  });
  const sink = await runningSink(context, {
    url: server.url,
    body: "{{entity.id}}{{attribute.n}}",
    max_connections: 3,
  });
  const ids = ["a", "b", "c", "d", "e", "f"];
  const events = [1, 2, 3, 4, 5].flatMap((n) => ids.map((id) => room(id, n)));

  await sink.persist({ events }, patient);

  const sent = server.requests.map(({ body }) => body);
  for (const id of ids) {
    assert.deepEqual(
      sent.filter((body) => body.startsWith(id)),
      [1, 2, 3, 4, 5].map((n) => `${id}${n}`),
    );
  }
  assert.ok(most > 1 && most <= 3, `most at once: ${most}`);
});

test("a write before the start fails retryably: its events are no dead letters", async () => {
  const { log } = recordingLog();
  const sink = new HttpSink(sinkConfig, { name: "http-sink", log, dataDir: "", run: "run", now: () => now });

  await assert.rejects(sink.persist({ events: [room("urn:r:1", 1)] }, patient), {
    code: "NOT_STARTED",
    retryable: true,
  });
});
