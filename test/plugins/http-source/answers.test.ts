import assert from "node:assert/strict";
import { test } from "node:test";
import { AgentError } from "../../../core/sdk/index.js";
import { notification, send } from "./http-client.js";
import { post, RawConnection } from "./raw-connection.js";
import { receivedAt, runningSource } from "./running-source.js";

test("an accepted notification is answered by exactly these bytes, in one piece", async (context) => {
  const { port } = await runningSource(context);
  const connection = await RawConnection.open(context, port);

  connection.send(post(notification));
  await connection.received(1);

  const [answer = ""] = connection.pieces;
  assert.equal(connection.pieces.length, 1);
  assert.equal(
    answer.replace(/Date: [^\r]*/, "Date: D"),
    "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nDate: D\r\nConnection: keep-alive\r\nKeep-Alive: timeout=75\r\n\r\n",
  );
});

test("the events are emitted with the reception time before the sender is answered", async (context) => {
  const order: string[] = [];
  const emit = async () => void order.push("emitted");
  const { port, emitted, accounted } = await runningSource(context, { emit });

  await send(port).then(() => order.push("answered"));

  assert.deepEqual(order, ["emitted", "answered"]);
  assert.equal(emitted[0]?.headers["timestamp"], String(receivedAt.getTime()));
  const requestBytes = Buffer.byteLength(notification);
  assert.deepEqual(accounted, [
    { service: "def_serv_ld", servicePath: "/", requestBytes, responseBytes: 0, failed: false, milliseconds: 0 },
  ]);
});

test("a notification to a whole address, as a sender writes it to a proxy, is one to its path", async (context) => {
  const { port, emitted } = await runningSource(context);
  const connection = await RawConnection.open(context, port);

  connection.send(post(notification).replace("POST /notify", "POST HTTP://agent:5050/notify"));
  await connection.received(1);

  assert.match(connection.pieces.join(""), /^HTTP\/1\.1 200 /);
  assert.equal(emitted.length, 1);
});

test("of two service headers the first one wins", async (context) => {
  const { port, emitted } = await runningSource(context);
  const connection = await RawConnection.open(context, port);

  connection.send(post(notification, "Fiware-Service: a", "fiware-service: b"));
  await connection.received(1);

  assert.equal(emitted[0]?.headers["fiware-service"], "a");
});

const failures = [
  {
    name: "a full channel",
    error: new AgentError("CHANNEL_FULL", 'channel "c" is full', { retryable: true }),
    status: 503,
    retryAfter: "7",
    reason: 'channel "c" is full',
  },
  {
    name: "a notification too large for a transaction",
    error: new AgentError("TRANSACTION_TOO_LARGE", "at most 100 events", { retryable: false }),
    status: 413,
    retryAfter: undefined,
    reason: "at most 100 events",
  },
  {
    name: "a notification too large for a channel",
    error: new AgentError("NOTIFICATION_TOO_LARGE", "at most 200 events", { retryable: false }),
    status: 413,
    retryAfter: undefined,
    reason: "at most 200 events",
  },
  {
    name: "a channel that may take it later, whatever its code,",
    error: new AgentError("QUOTA_USED_UP", "the quota is used up", { retryable: true, retryAfter: 2500 }),
    status: 503,
    retryAfter: "3",
    reason: "the quota is used up",
  },
  {
    name: "an error that never passes",
    error: new AgentError("SOMETHING_BROKE", "internal detail", { retryable: false }),
    status: 500,
    retryAfter: undefined,
    reason: "The request could not be processed",
  },
  {
    name: "an unexpected error",
    error: new Error("secret of the house"),
    status: 500,
    retryAfter: undefined,
    reason: "The request could not be processed",
  },
] as const;
for (const { name, error, status, retryAfter, reason } of failures)
  test(`${name} is answered ${status} with a reason and accounted as failed`, async (context) => {
    const emit = () => Promise.reject(error);
    const { port, accounted, lines } = await runningSource(context, { emit, config: { retry_after: 7 } });

    const answer = await send(port);

    assert.equal(answer.status, status);
    assert.equal(answer.headers["retry-after"], retryAfter);
    assert.equal(answer.headers["content-type"], "application/json; charset=utf-8");
    assert.deepEqual(JSON.parse(answer.content), { error: reason });
    assert.deepEqual(
      accounted.map(({ service, failed, responseBytes }) => ({ service, failed, responseBytes })),
      [{ service: "def_serv_ld", failed: true, responseBytes: answer.content.length }],
    );
    assert.equal(lines.filter(({ level }) => level === "error").length, status === 500 ? 1 : 0);
  });

const accepts = [
  { accept: undefined, type: "application/json" },
  { accept: "*/*", type: "application/json" },
  { accept: "application/json", type: "application/json" },
  { accept: "text/plain", type: "text/plain" },
  { accept: "text/html, text/plain;q=0.9, */*;q=0.1", type: "text/plain" },
  { accept: "text/*;q=0.2, application/json;q=0.8", type: "application/json" },
  { accept: "text/plain, application/json", type: "application/json" },
  { accept: "q=;;,,", type: "application/json" },
] as const;
for (const { accept, type } of accepts)
  test(`a sender with Accept ${accept} gets the reason of a refusal as ${type}`, async (context) => {
    const { port } = await runningSource(context);

    const answer = await send(port, {
      path: "/other",
      ...(accept === undefined ? {} : { headers: { Accept: accept } }),
    });

    const reason = "/other target not supported";
    assert.equal(answer.status, 400);
    assert.equal(answer.headers["content-type"], `${type}; charset=utf-8`);
    assert.equal(answer.content, type === "text/plain" ? `${reason}\n` : JSON.stringify({ error: reason }));
  });

test("a handler that refuses with something that is not HTTP costs the connection and not the agent", async (context) => {
  const headers = { "no name": "x" };
  const refusal = Object.assign(new Error("x"), { code: "DELIVERY_REJECTED", status: 400, headers });
  const { port, logged } = await runningSource(context, {
    handler: {
      decode: () => {
        throw refusal;
      },
    },
  });
  const failure = logged("response not written");

  await assert.rejects(send(port));

  await failure;
});

test("sources with different time-outs each answer with their own, however their answers alternate", async (context) => {
  const limits = [7, 9, undefined];
  const sources = limits.map((seconds) =>
    runningSource(context, { config: { keep_alive_timeout: (seconds ?? 0) * 1000 } }),
  );
  const connections = await Promise.all(
    (await Promise.all(sources)).map(async ({ port }) => await RawConnection.open(context, port)),
  );

  for (const round of [1, 2]) {
    for (const connection of connections) {
      connection.send(post(notification));
      await connection.received(round);
    }
  }

  for (const [at, seconds] of limits.entries()) {
    const hint = seconds === undefined ? "" : `Keep-Alive: timeout=${seconds}\r\n`;
    for (const answer of connections[at]?.pieces ?? [])
      assert.ok(answer.endsWith(`\r\nConnection: keep-alive\r\n${hint}\r\n`), answer);
  }
});
