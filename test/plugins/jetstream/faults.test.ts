import assert from "node:assert/strict";
import { cp, rename, rm } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { codeOf } from "../../../core/sdk/index.js";
import { readAll, rejects, texts } from "../../../core/testing/log/log-case.js";
import { Link } from "../../../plugins/jetstream/log/link.js";
import { writing } from "../../log/writing.js";
import { until } from "../../support/until.js";
import { administer } from "./administration.js";
import { configOf, logOf, nameOfStream, never, ownNats } from "./nats.js";
import { silencingProxy } from "./silencing-proxy.js";

const KILLS = 5;
/** What works needs less, also on a busy machine; what fails takes as long. */
const REQUEST_MILLIS = 3000;

test("a server that is killed again and again loses no appended record, and none is there twice", async (context) => {
  const server = await ownNats(context);
  if (server === undefined) return;
  const stream = nameOfStream();
  const [one, other] = [0, 1].map(() => logOf(context, { servers: [server.url], stream, request_timeout: 20_000 }));
  assert.ok(one !== undefined && other !== undefined);
  await one.open(never());
  await other.open(never());
  const writers = [writing(one, 0, "one"), writing(other, 0, "other"), writing(one, 1, "alone")];

  for (let kill = 1; kill <= KILLS; kill += 1) {
    await until(
      async () => Math.min(...writers.map(({ count }) => count())),
      (count) => count >= kill * 20,
    );
    await server.halt();
    await server.resume();
  }
  for (const writer of writers) await writer.stop();

  const log = logOf(context, { servers: [server.url], stream });
  await log.open(never());
  for (const part of [0, 1]) {
    const here = writers.filter((writer) => writer.part === part).flatMap(({ wrote }) => wrote);
    const records = await readAll(log, part, { count: here.length });
    const sorted = here.toSorted((left, right) => left.offset - right.offset);
    assert.deepEqual(
      texts(records),
      sorted.map(({ text }) => text),
    );
    assert.equal((await log.bounds([part])).get(part)?.next, (records.at(-1)?.offset ?? 0) + 1);
  }
});

test("a server that is away is an error within request_timeout, and works again when it is back", async (context) => {
  const server = await ownNats(context);
  if (server === undefined) return;
  const log = logOf(context, { servers: [server.url], request_timeout: REQUEST_MILLIS });
  await log.open(never());
  await log.append(0, Buffer.from("before"));
  const from = new Map([[0, 2]]);

  await server.halt();
  const other = logOf(context, { servers: [server.url], request_timeout: REQUEST_MILLIS });
  const calls = [
    log.append(0, Buffer.from("lost")),
    log.read(from, { bytes: 1000, waitMillis: 30_000 }, never()),
    log.bounds([0]),
    log.trim(new Map([[0, 2]])),
    other.open(never()),
  ];
  await Promise.all(calls.map((call) => rejects(call, "LOG_UNAVAILABLE", true)));
  await server.resume();

  assert.equal((await log.append(0, Buffer.from("after"))).previous, 1);
  assert.deepEqual(texts(await readAll(log, 0, { count: 2 })), ["before", "after"]);
});

test("a frozen server is an error within request_timeout, and works again when it goes on", async (context) => {
  const server = await ownNats(context);
  if (server === undefined) return;
  const log = logOf(context, { servers: [server.url], request_timeout: REQUEST_MILLIS });
  await log.open(never());
  const waiting = log.read(new Map([[1, 0]]), { bytes: 1000, waitMillis: 60_000 }, never()).catch(codeFrom);

  await server.freeze();
  const [append, bounds] = await Promise.all([
    log.append(0, Buffer.from("a")).catch(codeFrom),
    log.bounds([0]).catch(codeFrom),
  ]);
  const opening = await logOf(context, { servers: [server.url], request_timeout: REQUEST_MILLIS })
    .open(never())
    .catch(codeFrom);
  server.thaw();

  assert.deepEqual([append, bounds, opening], ["LOG_UNAVAILABLE", "LOG_UNAVAILABLE", "LOG_UNAVAILABLE"]);
  await waiting;
  const { offset } = await until(
    () => log.append(1, Buffer.from("news")).catch(() => ({ offset: 0 })),
    (appended) => appended.offset > 0,
  );
  assert.equal((await readAll(log, 1, { count: 1, from: offset }))[0]?.offset, offset);
});

test("a record that a server had not read when it was killed is there once", async (context) => {
  const server = await ownNats(context);
  if (server === undefined) return;
  const log = logOf(context, { servers: [server.url], request_timeout: 20_000 });
  await log.open(never());
  await log.append(0, Buffer.from("first"));

  await server.freeze();
  const appending = log.append(0, Buffer.from("second"));
  await turn();
  await server.halt();
  await server.resume();

  const { offset, previous } = await appending;
  assert.deepEqual([offset, previous], [2, 1]);
  assert.deepEqual(texts(await readAll(log, 0, { count: 2 })), ["first", "second"]);
});

test("a record that is stored and whose answer is lost with the connection is there once", async (context) => {
  const server = await ownNats(context);
  if (server === undefined) return;
  const proxy = await silencingProxy(context, server.port);
  const stream = nameOfStream();
  const log = logOf(context, { servers: [proxy.url], stream, request_timeout: 20_000 });
  const watching = logOf(context, { servers: [server.url], stream });
  await log.open(never());
  await watching.open(never());
  await log.append(0, Buffer.from("first"));

  proxy.silence(true);
  const appending = log.append(0, Buffer.from("second"));
  await readAll(watching, 0, { count: 2 });
  proxy.silence(false);
  proxy.cut();

  const { offset, previous } = await appending;
  assert.deepEqual([offset, previous], [2, undefined]);
  assert.equal((await log.append(0, Buffer.from("third"))).offset, 3);
  assert.deepEqual(texts(await readAll(watching, 0, { count: 3 })), ["first", "second", "third"]);
});

test("a stream whose making was not answered is asked for as another one, so that a cluster does not date it anew", async (context) => {
  const server = await ownNats(context);
  if (server === undefined) return;
  const asked: string[] = [];
  const proxy = await silencingProxy(context, server.port, async (data) => {
    const [, description] = /STREAM\.CREATE[^{]*\{.*?"description":"([^"]*)"/s.exec(data.toString()) ?? [];
    if (description !== undefined) asked.push(description);
  });
  proxy.change((data) => (asked.length === 1 && /stream_create_response/.test(data.toString()) ? Buffer.of() : data));
  const stream = nameOfStream();

  await logOf(context, { servers: [proxy.url], stream, request_timeout: 20_000 }).open(never());

  const { config } = await administer(server.url, `STREAM.INFO.${stream}`);
  assert.equal(asked.length, 2);
  assert.notEqual(asked[0], asked[1]);
  assert.equal(Object(config).description, asked[0]);
});

test("a record whose answer is lost is not said to follow one that it was not placed behind", async (context) => {
  const server = await ownNats(context);
  if (server === undefined) return;
  const stream = nameOfStream();
  const other = logOf(context, { servers: [server.url], stream });
  let publishes = 0;
  const proxy = await silencingProxy(context, server.port, async (data) => {
    if (!data.includes("Nats-Msg-Id")) return;
    publishes += 1;
    if (publishes === 2) proxy.silence(true);
    // Each time another agent is faster, so that the second one goes to wherever it falls.
    if (publishes <= 2) await other.append(0, Buffer.from(`other ${publishes}`));
  });
  const log = logOf(context, { servers: [proxy.url], stream, request_timeout: 20_000 });
  await other.open(never());
  await log.open(never());

  const appending = log.append(0, Buffer.from("own"));
  const stored = texts(await readAll(other, 0, { count: 3 }));
  proxy.silence(false);
  const { offset, previous } = await appending;

  assert.deepEqual(stored, ["other 1", "other 2", "own"]);
  assert.deepEqual([offset, previous], [3, undefined]);
  // Newer servers look at the expected record before they look for one of the same id: a fourth one goes without.
  assert.ok(publishes === 3 || publishes === 4, `${publishes}`);
});

test("a record that a leader says to have and has not placed yet is asked for again", async (context) => {
  const server = await ownNats(context);
  if (server === undefined) return;
  const proxy = await silencingProxy(context, server.port);
  const log = logOf(context, { servers: [proxy.url] });
  await log.open(never());
  await log.append(0, Buffer.from("first"));
  // Leaders of servers before 2.10.21 answer so while an earlier try is on its way, or did not arrive.
  let count = 0;
  proxy.change((data) => {
    const text = data.toString("latin1");
    if (!/"seq":2\b/.test(text) || count === 2) return data;
    count += 1;
    return Buffer.from(text.replace(/"seq":2\b/, '"seq":0'), "latin1");
  });

  const { offset } = await log.append(0, Buffer.from("second"));
  const next = await log.append(0, Buffer.from("third"));

  assert.deepEqual([count, offset, next.offset], [2, 2, 3]);
  assert.deepEqual(texts(await readAll(log, 0, { count: 3 })), ["first", "second", "third"]);
});

test("a question to a consumer ends with its connection", async (context) => {
  const server = await ownNats(context);
  if (server === undefined) return;
  const proxy = await silencingProxy(context, server.port);
  const link = new Link(configOf({ servers: [proxy.url] }), 'channel "log"');
  context.after(() => link.close());
  const connection = await link.connection("testing");
  connection.subscribe("silent");
  await connection.flush();

  const asking = link.request({ doing: "testing", subject: "silent", record: true, within: 20_000 });
  await turn();
  proxy.cut();

  await rejects(asking, "LOG_UNAVAILABLE", true);
});

test("a server that lost records is waited for, and then refused", async (context) => {
  const server = await ownNats(context);
  if (server === undefined) return;
  const log = logOf(context, { servers: [server.url], request_timeout: 5000 });
  await log.open(never());
  await log.append(0, Buffer.from("kept"));
  await server.halt();
  await cp(path.join(server.folder, "streams"), path.join(server.folder, "copy"), { recursive: true });
  await server.resume();
  await log.append(0, Buffer.from("lost"));

  await server.halt();
  await rm(path.join(server.folder, "streams"), { recursive: true });
  await rename(path.join(server.folder, "copy"), path.join(server.folder, "streams"));
  await server.resume();

  await rejects(log.append(0, Buffer.from("again")), "LOG_UNAVAILABLE", true);
  const code = await until(
    () => log.bounds([0]).then(() => "", codeFrom),
    (found) => found !== "LOG_UNAVAILABLE",
  );
  assert.equal(code, "LOG_SETTINGS");
  await rejects(log.append(0, Buffer.from("again")), "LOG_SETTINGS", false);
});

test("another server of the list is used when one is away", async (context) => {
  const [gone, server] = [await ownNats(context), await ownNats(context)];
  if (gone === undefined || server === undefined) return;
  await gone.stop();
  const log = logOf(context, { servers: [gone.url, server.url] });

  await log.open(never());

  assert.equal((await log.append(0, Buffer.from("a"))).offset, 1);
});

/** What is written now leaves the process. */
async function turn(): Promise<void> {
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
}

function codeFrom(error: unknown): string {
  return codeOf(error) ?? String(error);
}
