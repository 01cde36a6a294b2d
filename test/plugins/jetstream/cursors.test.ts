import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { connect } from "@nats-io/transport-node";
import type { LogPart } from "../../../core/log/index.js";
import { MEGABYTE, readAll, texts } from "../../../core/testing/log/log-case.js";
import { makeConsumer } from "../../../plugins/jetstream/log/consumers.js";
import { Cursor } from "../../../plugins/jetstream/log/cursor.js";
import { apiFailure } from "../../../plugins/jetstream/log/errors.js";
import type { JetStreamLog } from "../../../plugins/jetstream/log/jetstream-log.js";
import { Link } from "../../../plugins/jetstream/log/link.js";
import { until } from "../../support/until.js";
import { administer, removeStream } from "./administration.js";
import { configOf, logOf, never, ownNats, sharedNats } from "./nats.js";

interface Shared {
  readonly server: string;
  readonly stream: string;
  /** Two logs of one stream, both open. */
  readonly log: JetStreamLog;
  readonly other: JetStreamLog;
}

test("many records of a part take few questions", async (context) => {
  const shared = await opened(context);
  if (shared === undefined) return;
  const { server, stream, log, other } = shared;
  const values = await append(other, 300);
  const questions = await listening(context, server, `$JS.API.DIRECT.GET.${stream}`);

  const read = await readAll(log, 0, { count: values.length });

  assert.deepEqual(texts(read), values);
  assert.ok((await questions()) < 20, `${await questions()} questions for ${values.length} records`);
});

test("however many parts have much to read, no more than 64 have a consumer, and all are read", async (context) => {
  const partitions = 70;
  const shared = await opened(context, partitions);
  if (shared === undefined) return;
  const { server, stream, log, other } = shared;
  const value = Buffer.alloc(10_000);
  const parts = Array.from({ length: partitions }, (_, part) => part);
  await Promise.all(parts.map(async (part) => await appendTo(other, part, value, 20)));
  const next = new Map<LogPart, number>(parts.map((part) => [part, 0]));
  const consumers: number[] = [];

  for (let count = 0; count < partitions * 20; ) {
    for (const [part, records] of await log.read(next, { bytes: MEGABYTE, waitMillis: 1000 }, never())) {
      count += records.length;
      next.set(part, (records.at(-1)?.offset ?? 0) + 1);
    }
    consumers.push((await consumersOf(server, stream)).length);
  }

  assert.ok(Math.max(...consumers) <= 64 && Math.max(...consumers) > 32, `${consumers}`);
});

test("many cursors may wait for a record in the same read", async (context) => {
  const shared = await opened(context);
  if (shared === undefined) return;
  const cursors = await Promise.all(Array.from({ length: 20 }, () => cursorOf(context, shared)));
  const warnings: Error[] = [];
  const warn = (warning: Error) => warnings.push(warning);
  process.on("warning", warn);
  context.after(() => process.off("warning", warn));
  const { signal } = new AbortController();

  await Promise.all(cursors.map((cursor) => cursor.arrival(20, signal)));
  await nextTurn();

  assert.deepEqual(warnings, []);
});

test("what others append goes on to be brought, also when they do not announce it", async (context) => {
  const shared = await opened(context);
  if (shared === undefined) return;
  const { server, stream, log, other } = shared;
  const values = await append(other, 50);
  const read = [...(await readAll(log, 0, { count: values.length }))];

  const publisher = await connect({ servers: [server] });
  context.after(() => publisher.close());
  for (let count = 0; count < 50; count += 1) {
    const value = `published ${count}`;
    if (count % 2 === 0) await publisher.request(`${stream}.p.0`, value);
    else await other.append(0, Buffer.from(value));
    values.push(value);
    read.push(...(await readAll(log, 0, { count: 1, from: (read.at(-1)?.offset ?? 0) + 1 })));
  }

  assert.deepEqual(texts(read), values);
});

test("a consumer that is removed at the server while it is read costs no record", async (context) => {
  const shared = await opened(context);
  if (shared === undefined) return;
  const { server, stream, log, other } = shared;
  const values = await append(other, 100);
  const read = [...(await readAll(log, 0, { count: 10, size: 200 }))];

  for (let round = 0; round < 5; round += 1) {
    const consumers = await consumersOf(server, stream);
    assert.ok(consumers.length > 0 || round > 0);
    for (const name of consumers) await administer(server, `CONSUMER.DELETE.${stream}.${name}`);
    values.push(...(await append(other, 20)));
    read.push(...(await readAll(log, 0, { count: 20, from: (read.at(-1)?.offset ?? 0) + 1, size: 200 })));
  }
  const from = (read.at(-1)?.offset ?? 0) + 1;
  read.push(...(await readAll(log, 0, { count: values.length - read.length, from })));

  assert.deepEqual(texts(read), values);
});

test("a server that is killed while much is read costs no record", async (context) => {
  const server = await ownNats(context);
  if (server === undefined) return;
  const config = configOf({ servers: [server.url] });
  const [log, other] = [logOf(context, config), logOf(context, config)];
  await log.open(never());
  await other.open(never());
  const values = await append(other, 100);
  const read = [...(await readAll(log, 0, { count: 10, size: 200 }))];

  await server.halt();
  await server.resume();
  const from = (read.at(-1)?.offset ?? 0) + 1;
  const rest = await until(
    () => readAll(log, 0, { count: values.length - read.length, from }).catch(() => undefined),
    (found) => found !== undefined,
  );

  assert.deepEqual(texts([...read, ...(rest ?? [])]), values);
});

test("records that are larger than what is asked for at once are read in their order", async (context) => {
  const shared = await opened(context);
  if (shared === undefined) return;
  const { log, other } = shared;
  const sizes = [10, 10, 10, 200_000, 10, 400_000, 300_000, 10, 10, 10, 200_000];
  for (const size of sizes) await other.append(0, Buffer.alloc(size));

  const read = await readAll(log, 0, { count: sizes.length, size: 1000 });

  assert.deepEqual(
    read.map(({ value }) => value.length),
    sizes,
  );
});

test("a part that is not read any more leaves no consumer", async (context) => {
  const shared = await opened(context);
  if (shared === undefined) return;
  const { server, stream, log, other } = shared;
  await append(other, 50);
  await readAll(log, 0, { count: 50 });
  assert.equal((await consumersOf(server, stream)).length, 1);

  const left = await until(
    async () => {
      await log.read(new Map([[1, 0]]), { bytes: MEGABYTE, waitMillis: 50 }, never());
      return await consumersOf(server, stream);
    },
    ({ length }) => length === 0,
  );

  assert.deepEqual(left, []);
});

test("a cursor delivers nothing behind a record that did not reach it", async (context) => {
  const shared = await opened(context);
  if (shared === undefined) return;
  const { server, stream, other } = shared;
  for (let count = 0; count < 20; count += 1) await other.append(0, Buffer.alloc(200));
  const cursor = await cursorOf(context, shared);
  cursor.ask(1000);
  await cursor.arrival(5000, never());
  const before = taken(cursor);

  await takeOne(context, server, `$JS.API.CONSUMER.MSG.NEXT.${stream}.${cursor.name}`);
  cursor.ask(100_000);
  await cursor.arrival(5000, never());

  assert.deepEqual(
    before,
    before.map((_, index) => index + 1),
  );
  assert.ok(before.length > 0);
  assert.deepEqual(taken(cursor), []);
  assert.equal(cursor.suits(before.length + 1, performance.now(), 1000), false);
});

test("of a server that takes questions for few records at once, many records take few questions", async (context) => {
  const server = await ownNats(context, { jetstream: ["limits { max_request_batch: 25 }"] });
  if (server === undefined) return;
  const config = configOf({ servers: [server.url] });
  const [log, other] = [logOf(context, config), logOf(context, config)];
  await log.open(never());
  await other.open(never());
  const values = await append(other, 300);
  const questions = await listening(context, server.url, `$JS.API.DIRECT.GET.${config.stream}`);

  const read = await readAll(log, 0, { count: values.length });

  assert.deepEqual(texts(read), values);
  assert.ok((await questions()) < 40, `${await questions()} questions for ${values.length} records`);
});

test("a consumer of a stream that allows consumers less time without questions gets that time", async () => {
  const asked: object[] = [];
  const api = async (_doing: string, _call: string, { body = {} }: { readonly body?: object } = {}) => {
    asked.push(Object(body).config);
    if ("inactive_threshold" in Object(body).config)
      throw apiFailure("making", { code: 400, err_code: 10_153, description: "consumer inactive threshold exceeds" });
    return Object({});
  };

  await makeConsumer(
    { link: { api }, stream: "s", subject: "s.p.0", doing: "making" },
    { begins: { from: 7 }, idleMillis: 30_000 },
  );

  assert.deepEqual(
    asked.map((config) => ["inactive_threshold" in config, Object(config).opt_start_seq]),
    [
      [true, 7],
      [false, 7],
    ],
  );
});

/** A cursor of part 0 from its beginning. */
async function cursorOf(context: TestContext, { server, stream }: Shared): Promise<Cursor> {
  const link = new Link(configOf({ servers: [server], stream }), 'channel "log"');
  context.after(() => link.close());
  const subject = `${stream}.p.0`;
  const order = { begins: { from: 1 }, idleMillis: 30_000 };
  const name = await makeConsumer({ link, stream, subject, doing: "reading" }, order);
  const connection = await link.connection("reading");
  const inbox = `_INBOX.${name}`;
  const asks = { batch: 1000, arrived: () => undefined, limited: () => undefined };
  return new Cursor({ connection, inbox, stream, subject, name, from: 1, ...asks });
}

/** Asks a consumer for a record that another one is to get, and waits for it. */
async function takeOne(context: TestContext, server: string, subject: string): Promise<void> {
  const connection = await connect({ servers: [server] });
  context.after(() => connection.close());
  const inbox = `_INBOX.${process.pid}`;
  const came = new Promise<void>((resolve) => {
    connection.subscribe(inbox, { max: 1, callback: () => resolve() });
  });
  connection.publish(subject, JSON.stringify({ batch: 1 }), { reply: inbox });
  await came;
}

/** The offsets of what a cursor has. */
function taken(cursor: Cursor): readonly number[] {
  const offsets: number[] = [];
  for (let record = cursor.peek(0); record !== undefined; record = cursor.peek(0)) {
    offsets.push(record.offset);
    cursor.shift();
  }
  return offsets;
}

async function appendTo(log: JetStreamLog, part: number, value: Buffer, times: number): Promise<void> {
  for (let count = 0; count < times; count += 1) await log.append(part, value);
}

async function opened(context: TestContext, partitions = 2): Promise<Shared | undefined> {
  const server = await sharedNats(context);
  if (server === undefined) return undefined;
  const config = configOf({ servers: [server], partitions });
  context.after(() => removeStream(server, config.stream));
  const [log, other] = [logOf(context, config), logOf(context, config)];
  await log.open(never());
  await other.open(never());
  return { server, stream: config.stream, log, other };
}

async function append(log: JetStreamLog, count: number): Promise<string[]> {
  const values = Array.from({ length: count }, (_, index) => `value ${index}`);
  for (const value of values) await log.append(0, Buffer.from(value));
  return values;
}

/** How many messages came on a subject since this was called. */
async function listening(context: TestContext, server: string, subject: string): Promise<() => Promise<number>> {
  const connection = await connect({ servers: [server] });
  context.after(() => connection.close());
  let count = 0;
  connection.subscribe(subject, {
    callback: () => {
      count += 1;
    },
  });
  await connection.flush();
  return async () => {
    await connection.flush();
    return count;
  };
}

async function consumersOf(server: string, stream: string): Promise<readonly string[]> {
  const { consumers } = await administer(server, `CONSUMER.NAMES.${stream}`);
  return Array.isArray(consumers) ? consumers : [];
}
