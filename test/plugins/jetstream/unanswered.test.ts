import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { codeOf, type Emit } from "../../../core/sdk/index.js";
import { collect, put } from "../../../core/testing/channel-fixture.js";
import { never, readAll } from "../../../core/testing/log/log-case.js";
import { JetStreamLog } from "../../../plugins/jetstream/log/jetstream-log.js";
import { openLogChannel } from "../../log/opened-channel.js";
import { refusalsOfLog } from "../../log/unanswered-log.js";
import { until } from "../../support/until.js";
import { notification, runningSource, sharedBroker } from "../mqtt-source/running-source.js";
import { administer } from "./administration.js";
import { caughtUp, natsCluster } from "./cluster.js";
import { configOf, logOf, nameOfStream, ownNats } from "./nats.js";
import { silencingProxy } from "./silencing-proxy.js";

/** A put that ends at once is none that waits for an answer. */
const TIMEOUT = 3000;

test("what is put while a server is frozen is stored once when it goes on", async (context) => {
  const frozen = await frozenWhilePutting(context);
  if (frozen === undefined) return;
  const { server, channel, stream, putting } = frozen;

  server.thaw();
  await putting;
  await put(channel, 3);

  assert.deepEqual((await collect(channel, 3)).bodies, [1, 2, 3]);
  assert.equal(await recordsIn(server.url, stream), 3);
});

test("what is put before a server is killed is stored once when it is started again", async (context) => {
  const frozen = await frozenWhilePutting(context);
  if (frozen === undefined) return;
  const { server, channel, stream, putting } = frozen;

  await server.halt();
  await server.resume();
  await putting;

  assert.deepEqual((await collect(channel, 2)).bodies, [1, 2]);
  assert.equal(await recordsIn(server.url, stream), 2);
});

test("what a server stored before it was killed, and did not answer, is stored once when it is started again", async (context) => {
  const server = await ownNats(context);
  if (server === undefined) return;
  const proxy = await silencingProxy(context, server.port);
  const { channel, failed, stream } = await openedChannel(context, [proxy.url]);
  await put(channel, 1);

  proxy.silence(true);
  const putting = put(channel, 2);
  await failed("LOG_UNANSWERED");
  const stored = await recordsIn(server.url, stream);
  await server.halt();
  await server.resume();
  proxy.silence(false);
  proxy.cut();
  await putting;

  assert.equal(stored, 2);
  assert.deepEqual((await collect(channel, 2)).bodies, [1, 2]);
  assert.equal(await recordsIn(server.url, stream), 2);
});

test("what a leader stored before it was killed, and did not answer, is stored once by the next leader", async (context) => {
  const cluster = await natsCluster(context);
  if (cluster === undefined) return;
  const proxies = await Promise.all(cluster.map(({ port }) => silencingProxy(context, port)));
  const servers = proxies.map(({ url }) => url);
  const { channel, failed, stream } = await openedChannel(context, servers, { replicas: 3, request_timeout: 6000 });
  await put(channel, 1);
  const direct = cluster.map(({ url }) => url);

  for (const { silence } of proxies) silence(true);
  const putting = put(channel, 2);
  await failed("LOG_UNANSWERED");
  await caughtUp(direct, stream);
  const leader = await leaderOf(direct, stream);
  await cluster[leader]?.halt();
  for (const { silence, cut } of proxies) {
    silence(false);
    cut();
  }
  await putting;

  const [other = ""] = direct.filter((_, at) => at !== leader);
  assert.equal(await recordsIn(other, stream), 2);
});

test("what comes behind a put that is not answered is refused within request_timeout, and is not stored", async (context) => {
  const server = await ownNats(context);
  if (server === undefined) return;
  const { channel, failed, stream } = await openedChannel(context, [server.url]);

  await server.freeze();
  const putting = put(channel, 1);
  await failed("LOG_UNANSWERED");
  const refused = await put(channel, 2).catch((error: unknown) => error);
  server.thaw();
  await putting;

  assert.equal(codeOf(refused), "LOG_UNAVAILABLE");
  assert.match(
    String(refused),
    /waiting for what was put before: appending a record to ".*\.p\.0": .* the server does not answer in time/,
  );
  assert.deepEqual((await collect(channel, 1)).bodies, [1]);
  assert.equal(await recordsIn(server.url, stream), 1);
});

test("a server that stays away longer than outcome_timeout has the put refused, and the error says that it may be stored", async (context) => {
  const server = await ownNats(context);
  if (server === undefined) return;
  const { channel } = await openedChannel(context, [server.url], { outcome_timeout: 1 });

  await server.freeze();
  const refused = await put(channel, 1).catch((error: unknown) => error);
  server.thaw();

  assert.equal(codeOf(refused), "LOG_UNANSWERED");
  assert.match(String(refused), /whether it is in the stream is not known/);
});

test("a put that a server does not answer is refused at the end of a stop", { timeout: 60_000 }, async (context) => {
  const server = await ownNats(context);
  if (server === undefined) return;
  let isSent = false;
  const proxy = await silencingProxy(context, server.port, async (data) => {
    isSent ||= /HPUB \S+\.p\.0 /.test(data.toString());
  });
  const { channel } = await openedChannel(context, [proxy.url], { request_timeout: 60_000 });

  proxy.silence(true);
  const refused = put(channel, 1).catch((error: unknown) => error);
  await until(
    async () => isSent,
    (sent) => sent,
  );
  await channel.stop(AbortSignal.abort());

  assert.equal(codeOf(await refused), "LOG_UNANSWERED");
});

test("a record is not sent again when the stream may have forgotten its name", async (context) => {
  const server = await ownNats(context);
  if (server === undefined) return;
  const stream = nameOfStream();
  await administer(server.url, `STREAM.CREATE.${stream}`, {
    ...shortMemory,
    name: stream,
    subjects: [`${stream}.p.*`, `${stream}.agents`, `${stream}.letters`],
  });
  // A server that was thawed on a busy machine needs its time for the last question, too.
  const log = logOf(context, { servers: [server.url], stream, request_timeout: 2000 });
  await log.open(never());

  await server.freeze();
  const first = await log.append(0, Buffer.from("a"), "first").catch((error: unknown) => error);
  const last = await until(
    () => log.append(0, Buffer.from("a"), "first").catch((error: unknown) => error),
    (error) => codeOf(error) !== "LOG_UNANSWERED",
  );
  server.thaw();

  assert.equal(codeOf(first), "LOG_UNANSWERED");
  assert.equal(codeOf(last), "LOG_UNAVAILABLE");
  assert.match(String(last), /not known: it was sent too long ago to ask again/);
  assert.equal((await readAll(log, 0, { count: 1 }))[0]?.offset, 1);
});

test("a message that an mqtt source receives while a server is frozen is stored once", async (context) => {
  const broker = await sharedBroker(context);
  const server = await ownNats(context);
  if (broker === undefined || server === undefined) return;
  const { channel, failed, stream } = await openedChannel(context, [server.url]);
  const emit: Emit = async (events) => {
    const transaction = channel.openPut();
    for (const event of events) transaction.put(event);
    await transaction.commit();
  };
  const source = await runningSource(context, { config: broker.config, emit });
  await source.logged("subscribed");

  await server.freeze();
  await broker.publish(broker.topic, notification(1));
  await broker.publish(broker.topic, notification(2));
  await failed("LOG_UNANSWERED");
  server.thaw();

  await source.received(2);
  assert.equal((await collect(channel, 2)).bodies.length, 2);
  assert.equal(await recordsIn(server.url, stream), 2);
});

/** A server that was frozen before it answered the put of event 2; it has event 1. */
async function frozenWhilePutting(context: TestContext) {
  const server = await ownNats(context);
  if (server === undefined) return undefined;
  const { channel, failed, stream } = await openedChannel(context, [server.url]);
  await put(channel, 1);
  await server.freeze();
  const putting = put(channel, 2);
  await failed("LOG_UNANSWERED");
  return { server, channel, stream, putting };
}

/** A channel of one partition. */
async function openedChannel(
  context: TestContext,
  servers: readonly string[],
  config: { readonly replicas?: number; readonly request_timeout?: number; readonly outcome_timeout?: number } = {},
) {
  const stream = nameOfStream();
  const { outcome_timeout = 60, ...ofEngine } = config;
  const { watched, failed } = refusalsOfLog();
  const settings = configOf({ servers, stream, partitions: 1, request_timeout: TIMEOUT, ...ofEngine });
  const engine = () => watched(new JetStreamLog(settings, 'channel "log"'));
  // It keeps its part while the server is away.
  const channel = await openLogChannel({ folder: stream, engine, config: { outcome_timeout, session_timeout: 60 } });
  context.after(() => channel.stop(AbortSignal.abort()));
  return { channel, failed, stream };
}

/** How many records of the events the stream has. */
async function recordsIn(server: string, stream: string): Promise<number> {
  const { state } = await administer(server, `STREAM.INFO.${stream}`, { subjects_filter: `${stream}.p.0` });
  const subjects = typeof state === "object" && state !== null && "subjects" in state ? state.subjects : undefined;
  const counts = Object.values(subjects ?? {});
  return Number(counts[0] ?? 0);
}

async function leaderOf(servers: readonly string[], stream: string): Promise<number> {
  const { cluster } = await administer(servers[0] ?? "", `STREAM.INFO.${stream}`);
  const leader = typeof cluster === "object" && cluster !== null && "leader" in cluster ? String(cluster.leader) : "";
  return Number(leader.slice(1));
}

/** As an operator makes it; it remembers names for five seconds. */
const shortMemory = {
  description: "partitions=2",
  retention: "limits",
  storage: "file",
  discard: "new",
  num_replicas: 1,
  max_age: 0,
  duplicate_window: 5_000_000_000,
  allow_direct: true,
};
