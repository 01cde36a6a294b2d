import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import path from "node:path";
import { after, type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { createClient } from "@redis/client";
import { DeadLetters } from "../../core/pipeline/dead-letters/dead-letters.js";
import type { AnyPlugin, Sink } from "../../core/sdk/index.js";
import { asKind } from "../../core/testing/component-fixture.js";
import { channelIn } from "../plugins/file-channel/channel-folder.js";
import { feedOf, put } from "../support/delivering.js";
import { builtExample, npm } from "../support/example-package.js";
import { redisOfTests } from "../support/provided-redis.js";
import { reachable } from "../support/reachable.js";
import { recordingLog } from "../support/recording-log.js";
import { tempFolder } from "../support/temp-folder.js";
import { until } from "../support/until.js";
import { killAgain, type Trouble } from "./killed-agent.js";
import { kills, patience, promise, seed } from "./measure.js";
import { seeded } from "./seeded.js";
import { verdict } from "./verdict.js";

const { host, port } = redisOfTests();
const skip = (await reachable(host, port)) ? false : "Redis is not reachable";
const built = await builtExample("redis-once", "@redis/client");
after(built.remove);

const anHour = 3_600_000;

test("the example in Redis passes its own npm test", { skip }, async () => {
  const { code, output } = await npm(built.folder, "test");

  assert.equal(code, 0, output);
});

test(`killed ${kills} times under load with its connections to Redis ended, ${promise}`, { skip }, async (context) => {
  const redis = await streamIn(context);
  const folder = await tempFolder(context);
  const sink = { type: "redis-once", url: redis.url, stream: redis.stream };
  const trouble: Trouble = async (ending) => {
    while (!ending.aborted) {
      await redis.interrupt();
      await pause(30);
    }
  };
  const flags = ["--plugins", built.folder];
  const plan = { sink, folder, flags, kills, clients: { count: 8 }, random: seeded(seed), patience, trouble };

  const { sent, letters } = await killAgain(plan);

  const { accepted, ...faults } = verdict(sent, (await redis.events()).map(numberOf));
  assert.ok(accepted > 0);
  assert.deepEqual(faults, { lost: [], doubled: [], unknown: [] });
  assert.deepEqual(letters, []);
});

test("a connection that ends between a write and its answer costs no event and no waiting, and stores none twice", {
  skip,
}, async (context) => {
  const redis = await streamIn(context);
  const lossy = await lossyWay(context);
  const { feed, channel } = await feedTo(context, { url: lossy.url, stream: redis.stream });
  feed.start();
  for (let number = 1; number <= 10; number += 1) {
    lossy.loseNextAnswerTo("EVAL");
    await put(channel, number);
    await until(
      async () => channel.size,
      (size) => size === 0,
    );
  }
  await feed.drain(AbortSignal.timeout(20_000));

  const bodies = (await redis.events()).map((event) => Reflect.get(Object(event), "body"));
  assert.deepEqual(bodies, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  assert.equal(lossy.lost(), 10);
});

test("a connection that the server closes while it is idle is replaced at once", { skip }, async (context) => {
  const redis = await streamIn(context);
  const { feed, channel } = await feedTo(context, { url: redis.url, stream: redis.stream });
  feed.start();
  for (const number of [1, 2, 3]) {
    await put(channel, number);
    await until(
      async () => channel.size,
      (size) => size === 0,
    );
    assert.equal(await redis.interrupt(), 1);
  }
  await feed.drain(AbortSignal.timeout(20_000));

  assert.equal((await redis.events()).length, 3);
});

test("a write to a server that answers nothing ends when its signal aborts", { skip }, async (context) => {
  const redis = await streamIn(context);
  const lossy = await lossyWay(context);
  const sink = await sinkOf({ url: lossy.url, stream: redis.stream });
  context.after(() => sink.stop(AbortSignal.abort()));
  await sink.persist({ events: [{ headers: {}, body: 1 }] }, new AbortController().signal);
  lossy.holdAnswers();
  const ending = new AbortController();
  const written = assert.rejects(sink.persist({ events: [{ headers: {}, body: 2 }] }, ending.signal), /aborted/);
  await until(
    async () => (await redis.events()).length,
    (stored) => stored === 2,
  );

  ending.abort();

  await written;
});

/** A stream of its own. */
async function streamIn(context: TestContext) {
  const stream = `deneb-test-${randomUUID()}`;
  const client = createClient({ url: `redis://${host}:${port}` });
  client.on("error", () => undefined);
  await client.connect();
  context.after(async () => {
    await client.del(await client.keys(`${stream}*`));
    client.destroy();
  });
  return {
    stream,
    url: `redis://${host}:${port}`,
    events: async (): Promise<readonly unknown[]> => {
      const entries = await client.xRange(stream, "-", "+");
      return (entries ?? []).map(({ message }) => JSON.parse(message["event"] ?? ""));
    },
    /** Ends the connections of the sink, which have the name of the stream; returns how many. */
    interrupt: async () => {
      const open = (await client.clientList()).filter(({ name }) => name === stream);
      for (const { id } of open) await client.clientKill({ filter: "ID", id });
      return open.length;
    },
  };
}

interface Place {
  readonly url: string;
  readonly stream: string;
}

async function sinkOf(place: Place): Promise<Sink> {
  const loaded: { readonly default: AnyPlugin } = await import(
    pathToFileURL(path.join(built.folder, "dist", "index.js")).href
  );
  const { log } = recordingLog();
  const context = { name: "s", log, dataDir: "unused", run: "run", now: () => new Date(0) };
  const sink = asKind("sink", loaded.default.create(place, context), ["start", "persist", "stop"]);
  await sink.start();
  return sink;
}

/** A feed from a channel on disk that would wait for an hour before a second try. */
async function feedTo(context: TestContext, place: Place) {
  const folder = await tempFolder(context);
  const { channel } = channelIn(folder);
  const sink = await sinkOf(place);
  const retry = { batchTtl: -1, batchRetryIntervals: [anHour], untilStored: true };
  const { feed } = feedOf({ channel, sink, retry, deadLetters: new DeadLetters(folder), log: recordingLog().log });
  await channel.start();
  context.after(async () => {
    await feed.halt(AbortSignal.abort());
    await sink.stop(AbortSignal.abort());
    await channel.stop();
  });
  return { feed, channel };
}

/** A way to Redis on which an answer can be lost with its connection. */
async function lossyWay(context: TestContext) {
  let losing: string | undefined;
  let holding = false;
  let lost = 0;
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect({ host, port });
    let armed = false;
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        near.destroy();
        far.destroy();
      });
    }
    near.on("data", (bytes) => {
      if (losing !== undefined && bytes.includes(losing)) {
        losing = undefined;
        armed = true;
      }
      far.write(bytes);
    });
    far.on("data", (bytes) => {
      if (holding) return;
      if (!armed) near.write(bytes);
      else {
        lost += 1;
        near.destroy();
      }
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  context.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  assert.ok(address !== null && typeof address === "object");
  return {
    url: `redis://127.0.0.1:${address.port}`,
    loseNextAnswerTo: (command: string) => {
      losing = command;
    },
    holdAnswers: () => {
      holding = true;
    },
    lost: () => lost,
  };
}

function numberOf(event: unknown): number {
  const [, number] = JSON.stringify(event).match(/"name":"number".*?"text":"(\d+)"/) ?? [];
  return Number(number);
}
