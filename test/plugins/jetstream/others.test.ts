import assert from "node:assert/strict";
import { test } from "node:test";
import { connect } from "@nats-io/transport-node";
import type { LogPart } from "../../../core/log/index.js";
import { codeOf } from "../../../core/sdk/index.js";
import { MEGABYTE, readAll, rejects, texts } from "../../../core/testing/log/log-case.js";
import { until } from "../../support/until.js";
import { administer, removeStream } from "./administration.js";
import { logOf, nameOfStream, never, ownNats, sharedLog, sharedNats } from "./nats.js";

const gone: readonly { readonly title: string; readonly again: boolean }[] = [
  { title: "is deleted", again: false },
  { title: "is deleted and made again", again: true },
];

for (const { title, again } of gone)
  test(`a stream that ${title} while agents use it is used no more, until it is opened`, async (context) => {
    const server = await sharedNats(context);
    if (server === undefined) return;
    const stream = nameOfStream();
    context.after(() => removeStream(server, stream));
    const [log, other] = [logOf(context, { servers: [server], stream }), logOf(context, { servers: [server], stream })];
    const { id } = await log.open(never());
    for (const text of ["a", "b", "c"]) await log.append(0, Buffer.from(text));

    await removeStream(server, stream);
    if (again) await other.open(never());

    await rejects(log.append(0, Buffer.from("d")), "LOG_SETTINGS", false);
    await rejects(log.append(1, Buffer.from("e")), "LOG_SETTINGS", false);
    await rejects(log.trim(new Map([[0, 2]])), "LOG_SETTINGS", false);
    await rejects(log.read(new Map([[0, 1]]), { bytes: 1000, waitMillis: 60_000 }, never()), "LOG_SETTINGS", false);
    assert.notEqual((await log.open(never())).id, id);
    await log.append(0, Buffer.from("f"));
  });

test("a stream that is made again is noticed although its sequences are larger already", async (context) => {
  const server = await sharedNats(context);
  if (server === undefined) return;
  const stream = nameOfStream();
  context.after(() => removeStream(server, stream));
  const [log, other] = [logOf(context, { servers: [server], stream }), logOf(context, { servers: [server], stream })];
  await log.open(never());
  await log.append(0, Buffer.from("a"));

  await removeStream(server, stream);
  await other.open(never());
  for (let count = 0; count < 10; count += 1) await other.append(0, Buffer.from("b"));

  const failing = until(
    () => log.append(1, Buffer.from("c")).then(() => "", codeFrom),
    (code) => code !== "",
  );
  assert.equal(await failing, "LOG_SETTINGS");
});

test("a stream of the same name on another server is not taken for the one that was opened", async (context) => {
  const server = await ownNats(context);
  if (server === undefined) return;
  const stream = nameOfStream();
  const log = logOf(context, { servers: [server.url], stream });
  await log.open(never());
  await log.append(0, Buffer.from("a"));

  await server.halt();
  const other = await ownNats(context, { port: server.port });
  const filling = logOf(context, { servers: [server.url], stream });
  await filling.open(never());
  for (let count = 0; count < 5; count += 1) await filling.append(0, Buffer.from("b"));

  assert.ok(other !== undefined);
  await rejects(log.append(0, Buffer.from("c")), "LOG_SETTINGS", false);
  assert.equal((await filling.bounds([0])).get(0)?.next, 6);
});

test("records of an agent whose announcements nobody hears are read nevertheless", async (context) => {
  const server = await sharedNats(context);
  if (server === undefined) return;
  const stream = nameOfStream();
  context.after(() => removeStream(server, stream));
  const log = logOf(context, { servers: [server], stream });
  await log.open(never());
  const reading = log.read(new Map<LogPart, number>([["letters", 0]]), { bytes: 1000, waitMillis: 60_000 }, never());

  await publishAsOthers(server, `${stream}.letters`, "from elsewhere");

  assert.deepEqual(texts((await reading).get("letters") ?? []), ["from elsewhere"]);
  assert.equal((await log.append("letters", Buffer.from("mine"))).previous, 1);
});

test("announcements that are no numbers, or of records that do not exist, disturb nobody", async (context) => {
  const server = await sharedNats(context);
  if (server === undefined) return;
  const stream = nameOfStream();
  context.after(() => removeStream(server, stream));
  const log = logOf(context, { servers: [server], stream });
  await log.open(never());
  const reading = log.read(new Map([[0, 0]]), { bytes: 1000, waitMillis: 60_000 }, never());

  for (const text of ["x", "-1", "9007199254740993", "999999", ""]) {
    for (const part of ["0", "7", "agents", "__proto__"]) await publishAsOthers(server, `${stream}.new.${part}`, text);
  }
  await log.append(0, Buffer.from("a"));

  assert.deepEqual(texts((await reading).get(0) ?? []), ["a"]);
});

test("a jump back finds records at once although the end of the part was seen", async (context) => {
  const shared = await sharedLog(context);
  if (shared === undefined) return;
  const { log } = shared;
  const values = Array.from({ length: 40 }, (_, index) => `${index}`);
  for (const value of values) await log.append(0, Buffer.from(value));

  for (let round = 0; round < 20; round += 1) {
    assert.deepEqual(texts(await readAll(log, 0, { count: 40 })), values);
    const none = await log.read(new Map([[0, 41]]), { bytes: MEGABYTE, waitMillis: 0 }, never());
    assert.equal(none.size, 0);
  }
});

test("a mirror of the stream that has not all of its records is not read in its place", async (context) => {
  const shared = await sharedLog(context);
  if (shared === undefined) return;
  const { server, stream } = shared;
  const mirror = `${stream}-mirror`;
  const settings = { name: mirror, mirror: { name: stream }, storage: "memory", max_msgs: 4, allow_direct: true };
  for (let count = 0; count < 12; count += 1) await publishAsOthers(server, `${stream}.p.0`, `${count}`);
  await administer(server, `STREAM.CREATE.${mirror}`, { ...settings, mirror_direct: true });
  context.after(() => removeStream(server, mirror));
  await until(
    async () => {
      // A mirror answers once it has taken what comes.
      await publishAsOthers(server, `${stream}.letters`, "more");
      return await answering(server, stream);
    },
    (name) => name === mirror,
  );

  for (let round = 0; round < 10; round += 1) {
    const log = logOf(context, { servers: [server], stream });
    await log.open(never());
    const read = await readAll(log, 0, { count: 12 });
    const before = await log.bounds([0]);

    assert.deepEqual(
      read.map(({ offset, value }) => [offset, Buffer.from(value).toString()]),
      Array.from({ length: 12 }, (_, index) => [index + 1, `${index}`]),
    );
    assert.deepEqual(before.get(0), { first: 1, next: 13 });
    assert.equal((await log.read(new Map([[1, 0]]), { bytes: MEGABYTE, waitMillis: 0 }, never())).size, 0);
    await log.close(never());
  }
});

/** The stream that answers a direct get of this one. */
async function answering(server: string, stream: string): Promise<string | undefined> {
  const connection = await connect({ servers: [server] });
  const question = JSON.stringify({ last_by_subj: `${stream}.letters` });
  const { headers } = await connection.request(`$JS.API.DIRECT.GET.${stream}`, question);
  await connection.close();
  return headers?.get("Nats-Stream");
}

async function publishAsOthers(server: string, subject: string, text: string): Promise<void> {
  const connection = await connect({ servers: [server] });
  connection.publish(subject, text);
  await connection.flush();
  await connection.close();
}

function codeFrom(error: unknown): string {
  return codeOf(error) ?? String(error);
}
