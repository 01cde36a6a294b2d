import assert from "node:assert/strict";
import { once } from "node:events";
import { Agent } from "node:http";
import { type TestContext, test } from "node:test";
import { codeOf } from "../../../core/sdk/index.js";
import { notification, send } from "./http-client.js";
import { post, RawConnection } from "./raw-connection.js";
import { createdSource, runningSource } from "./running-source.js";

const neverAborts = new AbortController().signal;

/** An emit that waits: `asked` resolves when it is called, `settle` lets it end. */
function heldEmit() {
  const asked = new EventTarget();
  const wasAsked = once(asked, "asked");
  let settle: () => void = () => undefined;
  const settled = new Promise<void>((resolve) => {
    settle = resolve;
  });
  const emit = (): Promise<void> => {
    asked.dispatchEvent(new Event("asked"));
    return settled;
  };
  return { emit, asked: wasAsked, settle: () => settle() };
}

function keepAliveAgent(context: TestContext): Agent {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  context.after(() => agent.destroy());
  return agent;
}

test("a connection carries many requests one after another", async (context) => {
  const { port } = await runningSource(context);
  const agent = keepAliveAgent(context);

  const first = await send(port, { agent });
  const refused = await send(port, { agent, path: "/other" });
  const unread = await send(port, { agent, method: "PUT" });
  const last = await send(port, { agent });

  assert.deepEqual(
    [first, refused, unread, last].map(({ status, reused }) => ({ status, reused })),
    [
      { status: 200, reused: false },
      { status: 400, reused: true },
      { status: 405, reused: true },
      { status: 200, reused: true },
    ],
  );
});

test("requests sent without waiting for answers are answered in order", async (context) => {
  const { port, emitted } = await runningSource(context);
  const connection = await RawConnection.open(context, port);

  connection.send(["a", "b", "c"].map((id) => post(notification.replace("urn:e:1", id))).join(""));
  const answers = await connection.received(3);

  assert.equal(answers.match(/HTTP\/1.1 200 OK/g)?.length, 3);
  assert.deepEqual(
    emitted.map(({ body }) => JSON.stringify(body).includes('"id":"a"')),
    [true, false, false],
  );
});

const chunked = post(notification)
  .replace(/Content-Length: \d+/i, "Transfer-Encoding: chunked")
  .replace(/\r\n\r\n.*$/s, `\r\n\r\n${notification.length.toString(16)}\r\n${notification}\r\n`);

for (const { what, before, request } of [
  { what: "of its first request", before: "", request: post(notification).slice(0, -1) },
  { what: "of a request behind one that is not plain", before: chunked, request: post(notification).slice(0, -1) },
  { what: "of chunks", before: "", request: chunked },
])
  test(`a sender that goes away in the middle of the body ${what} emits nothing of it and is no error`, async (context) => {
    const { port, emitted, accounted, lines, logged } = await runningSource(context);
    const abandoned = logged("request abandoned by its sender");
    const connection = await RawConnection.open(context, port);
    const earlier = before === "" ? 0 : 1;
    if (earlier > 0) connection.send(`${before}0\r\n\r\n`);
    await connection.received(earlier);

    connection.send(request);
    await send(port);
    connection.finish();
    const answers = await connection.untilClosed();

    assert.equal(answers.match(/HTTP\/1.1/g)?.length ?? 0, earlier);
    await abandoned;
    assert.equal(emitted.length, earlier + 1);
    assert.equal(accounted.length, earlier + 1);
    assert.deepEqual(
      lines.filter(({ level }) => level === "warn" || level === "error"),
      [],
    );
  });

test("a sender that disconnects before its response does not affect others", async (context) => {
  const { emit, asked, settle } = heldEmit();
  const { port, source } = await runningSource(context, { emit });
  const connection = await RawConnection.open(context, port);

  connection.send(post(notification));
  await asked;
  connection.abort();
  await connection.untilClosed();
  settle();

  assert.equal((await send(port)).status, 200);
  await source.stop(neverAborts);
});

test("stopping lets a running request finish, closes its connection and accepts no other", async (context) => {
  const { emit, asked, settle } = heldEmit();
  const { port, source } = await runningSource(context, { emit });
  const agent = keepAliveAgent(context);

  const answered = send(port, { agent });
  await asked;
  const stopped = source.stop(neverAborts);
  await assert.rejects(send(port), { code: "ECONNREFUSED" });
  settle();

  assert.equal((await answered).status, 200);
  await stopped;
  assert.equal(source.port, undefined);
});

test("idle and silent connections do not hold up a stop", async (context) => {
  const { port, source } = await runningSource(context);
  const agent = keepAliveAgent(context);
  const silent = await RawConnection.open(context, port);
  await send(port, { agent });

  await source.stop(neverAborts);

  assert.equal(await silent.untilClosed(), "");
});

test("the end of the grace period cuts what is not finished", async (context) => {
  const { emit, asked } = heldEmit();
  const { port, source } = await runningSource(context, { emit });
  const grace = new AbortController();

  const answered = assert.rejects(send(port), { code: "ECONNRESET" });
  await asked;
  const stopped = source.stop(grace.signal);
  grace.abort();

  await stopped;
  await answered;
});

test("stop is safe twice", async (context) => {
  const { source } = await runningSource(context);

  await Promise.all([source.stop(neverAborts), source.stop(neverAborts)]);
  await source.stop(neverAborts);
});

test("a port in use fails the start with the port and the remedy, said once, and stop is safe after it", async (context) => {
  const { port } = await runningSource(context);
  const { source, lines } = createdSource(context, { config: { port } });

  await assert.rejects(source.start(), (error: Error) => {
    assert.equal(codeOf(error), "PORT_IN_USE");
    assert.match(
      error.message,
      new RegExp(`^starting source "http-source": listening on port ${port} of "127.0.0.1": `),
    );
    assert.match(error.message, /set property "port" to a free one$/);
    return true;
  });
  assert.deepEqual(lines, []);
});
