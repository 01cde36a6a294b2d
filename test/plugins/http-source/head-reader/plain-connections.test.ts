import assert from "node:assert/strict";
import { test } from "node:test";
import { isEntity } from "../../../../core/ngsi/index.js";
import type { Event } from "../../../../core/sdk/index.js";
import { notification, send } from "../http-client.js";
import { post, RawConnection } from "../raw-connection.js";
import { runningSource } from "../running-source.js";

const idsOf = (events: readonly Event[]) => events.map(({ body }) => (isEntity(body) ? body.id : ""));
const about = (id: string) => notification.replace("urn:e:1", id);
const chunked = (body: string) =>
  "POST /notify HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n" +
  `${Buffer.byteLength(body).toString(16)}\r\n${body}\r\n0\r\n\r\n`;

test("a request that arrives in two pieces is accepted once, wherever it is cut", async (context) => {
  const { port, emitted } = await runningSource(context);
  const cuts = Array.from({ length: post(about("e")).length - 1 }, (_, at) => at + 1);

  for (const cut of cuts) await acceptedInTwo(await RawConnection.open(context, port), post(about(`e${cut}`)), cut);

  assert.deepEqual(
    idsOf(emitted),
    cuts.map((cut) => `e${cut}`),
  );
});

const followers: Readonly<Record<string, (body: string) => string>> = {
  "another plain one": (body) => post(body),
  "a chunked one": chunked,
  "one with an expectation": (body) => post(body, "Expect: 100-continue"),
  "one that expects what nobody knows": (body) => post(body, "Expect: wonders"),
  "one with two service headers": (body) => post(body, "Fiware-Service: a", "Fiware-Service: b"),
};
for (const [name, follower] of Object.entries(followers)) {
  test(`behind a plain request in one piece with it, ${name} is served after it`, async (context) => {
    const { port, emitted } = await runningSource(context);
    const connection = await RawConnection.open(context, port);

    connection.send([post(about("a")), follower(about("b")), post(about("c"))].join(""));
    const answers = await connection.received(name.includes("expectation") ? 4 : 3);

    assert.equal(answers.match(/HTTP\/1.1 200 OK/g)?.length, 3);
    assert.deepEqual(idsOf(emitted), ["a", "b", "c"]);
  });

  test(`after a plain request was answered, ${name} is served, and plain ones again`, async (context) => {
    const { port, emitted } = await runningSource(context);
    const connection = await RawConnection.open(context, port);

    connection.send(post(about("a")));
    await connection.received(1);
    connection.send(follower(about("b")));
    await connection.received(name.includes("expectation") ? 3 : 2);
    connection.send(post(about("c")));
    await connection.received(name.includes("expectation") ? 4 : 3);

    assert.deepEqual(idsOf(emitted), ["a", "b", "c"]);
  });
}

test("bytes that arrive while a request is served wait for its response", async (context) => {
  const held: (() => void)[] = [];
  const emit = () => new Promise<void>((resolve) => held.push(resolve));
  const { port, emitted } = await runningSource(context, { emit });
  const connection = await RawConnection.open(context, port);

  connection.send(post(about("a")));
  while (held.length === 0) await new Promise(setImmediate);
  connection.send(post(about("b")));
  connection.send(post(about("c")).slice(0, -5));
  const before = idsOf(emitted);
  const rest = setInterval(() => held.shift()?.(), 1);
  connection.send(post(about("c")).slice(-5));
  const answers = await connection.received(3);
  clearInterval(rest);

  assert.deepEqual(before, ["a"]);
  assert.equal(answers.match(/HTTP\/1.1 200 OK/g)?.length, 3);
  assert.deepEqual(idsOf(emitted), ["a", "b", "c"]);
});

test("a sender that ends its side after its request still gets the response", async (context) => {
  const held: (() => void)[] = [];
  const emit = () => new Promise<void>((resolve) => held.push(resolve));
  const { port } = await runningSource(context, { emit });
  const connection = await RawConnection.open(context, port);

  connection.send(post(notification));
  while (held.length === 0) await new Promise(setImmediate);
  connection.finish();
  await new Promise(setImmediate);
  held[0]?.();

  assert.match(await connection.untilClosed(), /^HTTP\/1.1 200 OK\r\n.*\r\nConnection: close\r\n\r\n$/s);
});

test("a sender that sends requests without waiting and ends its side does not affect others", async (context) => {
  const { port, emitted } = await runningSource(context);
  const connection = await RawConnection.open(context, port);

  connection.send([post(about("a")), chunked(about("b"))].join(""));
  connection.finish();
  await connection.untilClosed();

  assert.equal((await send(port)).status, 200);
  assert.equal(idsOf(emitted)[0], "a");
});

test("the connection of a sender that asks for it is closed after the response", async (context) => {
  const { port, emitted } = await runningSource(context);
  const connection = await RawConnection.open(context, port);

  connection.send(post(notification, "Connection: close"));

  assert.match(await connection.untilClosed(), /^HTTP\/1.1 200 OK\r\n.*\r\nConnection: close\r\n\r\n$/s);
  assert.equal(emitted.length, 1);
});

test("a connection that is idle for longer than keep_alive_timeout is closed", async (context) => {
  const { port } = await runningSource(context, { config: { keep_alive_timeout: 50 } });
  const connection = await RawConnection.open(context, port);

  connection.send(post(notification));

  assert.match(await connection.untilClosed(), /^HTTP\/1.1 200 OK\r\n.*\r\nKeep-Alive: timeout=0\r\n\r\n$/s);
});

test("a body of megabytes is accepted in whatever pieces it comes", async (context) => {
  const { port, emitted } = await runningSource(context);
  const connection = await RawConnection.open(context, port);

  connection.send(post(notification.replace('"value":1', `"value":"${"é".repeat(1_000_000)}"`)));
  await connection.received(1);

  assert.match(JSON.stringify(emitted[0]?.body), /"(?:é){1000000}"/);
});

test("stopping waits for the rest of a body and responds to it", async (context) => {
  const { port, source } = await runningSource(context);
  const connection = await RawConnection.open(context, port);
  const text = post(notification);

  connection.send(text.slice(0, -1));
  await send(port);
  const stopped = source.stop(new AbortController().signal);
  connection.send(text.slice(-1));

  assert.match(await connection.untilClosed(), /^HTTP\/1.1 200 OK\r\n.*\r\nConnection: close\r\n\r\n$/s);
  await stopped;
});

test("a header behind thousands of others counts, whoever reads the head", async (context) => {
  const { port, emitted } = await runningSource(context);
  const text = post(notification, ...Array.from({ length: 2500 }, () => "X:"), "Fiware-Service: farm");

  for (const cut of [text.length, 50]) await acceptedInTwo(await RawConnection.open(context, port), text, cut);

  assert.deepEqual(
    emitted.map(({ headers }) => headers["fiware-service"]),
    ["farm", "farm"],
  );
});

/** Sends a request in two pieces. */
async function acceptedInTwo(connection: RawConnection, text: string, cut: number): Promise<void> {
  connection.send(text.slice(0, cut));
  await new Promise(setImmediate);
  connection.send(text.slice(cut));
  assert.match(await connection.received(1), /^HTTP\/1.1 200 OK\r\n/);
  connection.abort();
}
